// Command interop is a WebRTC endpoint that knows nothing of weft: an ordinary
// peer connection of Pion. It reads one offer from its input, answers it, and
// tells what happens, each a line of JSON (see event). It ends with its input.
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"sync"

	"github.com/pion/ice/v4"
	"github.com/pion/interceptor"
	"github.com/pion/webrtc/v4"

	"weft/clients/pion/endpoint"
)

// event is a line of the output; what does not apply is left out.
type event struct {
	Event string `json:"event"`
	// "answer": the session description.
	SDP string `json:"sdp,omitempty"`
	// "ice": the new state.
	State string `json:"state,omitempty"`
	// "selected": the remote address of the selected candidate pair.
	Remote string `json:"remote,omitempty"`
	// "frame": what a complete frame, of packets in order, begins with,
	// and how many packets were given up before it.
	Head    string `json:"head,omitempty"`
	Dropped uint16 `json:"dropped,omitempty"`
	// "counts": see counts.
	Counts *counts `json:"counts,omitempty"`
}

// headBytes covers what the test writes into its frames: number, time and reference.
const headBytes = 34

type options struct {
	address          net.IP
	publish          bool
	ignoreNomination bool
	ccfb             bool
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("pion: ")
	var o options
	address := flag.String("address", "127.0.0.1", "the only address to use")
	flag.BoolVar(&o.publish, "publish", false, "send video instead of receiving it")
	flag.BoolVar(&o.ignoreNomination, "ignore-nomination", false,
		"do not understand libwebrtc's NOMINATION, as ice before 4.2.3")
	flag.BoolVar(&o.ccfb, "ccfb", false,
		"give feedback by RFC 8888 instead of transport-wide numbers")
	flag.Parse()
	if o.address = net.ParseIP(*address); o.address == nil {
		log.Fatalf("-address %q is no address; write it like 127.0.0.1", *address)
	}
	input := bufio.NewReader(os.Stdin)
	if err := run(o, input); err != nil {
		log.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, input)
}

// run reads the offer, a line of JSON with the field "sdp", and answers it.
func run(o options, input *bufio.Reader) error {
	line, err := input.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("no offer on the input: %w", err)
	}
	var offer struct {
		SDP string `json:"sdp"`
	}
	if err := json.Unmarshal(line, &offer); err != nil {
		return fmt.Errorf("the offer is no JSON: %w", err)
	}
	seen := &counts{From: map[string]uint64{}}
	peer, err := connection(o, seen)
	if err != nil {
		return err
	}
	connected := watch(peer, seen)
	if o.publish {
		if err := publish(peer, connected); err != nil {
			return err
		}
	} else {
		peer.OnTrack(func(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) { receive(peer, track, seen) })
	}
	return answer(peer, offer.SDP)
}

// connection is what an application of Pion gets by default, but for the
// address, so that a test can run on loopback.
func connection(o options, seen *counts) (*webrtc.PeerConnection, error) {
	network, err := newNetwork(seen)
	if err != nil {
		return nil, err
	}
	var settings webrtc.SettingEngine
	settings.SetNet(network)
	settings.SetIncludeLoopbackCandidate(true)
	settings.SetIPFilter(o.address.Equal)
	settings.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4, webrtc.NetworkTypeUDP6})
	settings.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	if o.ignoreNomination {
		// What ice 4.0.11 to 4.2.2 looked for.
		old := webrtc.WithRenominationNominationAttribute(0x0030)
		if err := settings.SetICERenomination(old); err != nil {
			return nil, err
		}
	}
	with := []func(*webrtc.API){webrtc.WithSettingEngine(settings)}
	if o.ccfb {
		media, registry := &webrtc.MediaEngine{}, &interceptor.Registry{}
		if err := feedbackByStream(media, registry); err != nil {
			return nil, err
		}
		with = append(with, webrtc.WithMediaEngine(media), webrtc.WithInterceptorRegistry(registry))
	}
	return webrtc.NewAPI(with...).NewPeerConnection(webrtc.Configuration{})
}

// feedbackByStream is what Pion registers by default, but for the congestion
// control feedback of RFC 8888 in place of the transport-wide one.
func feedbackByStream(media *webrtc.MediaEngine, registry *interceptor.Registry) error {
	if err := media.RegisterDefaultCodecs(); err != nil {
		return err
	}
	if err := webrtc.ConfigureNack(media, registry); err != nil {
		return err
	}
	if err := webrtc.ConfigureRTCPReports(registry); err != nil {
		return err
	}
	return webrtc.ConfigureCongestionControlFeedback(media, registry)
}

// watch tells what becomes of the connection; the channel is closed when media
// can flow.
func watch(peer *webrtc.PeerConnection, seen *counts) <-chan struct{} {
	connected := make(chan struct{})
	var once sync.Once
	peer.OnICEConnectionStateChange(func(state webrtc.ICEConnectionState) {
		if state != webrtc.ICEConnectionStateChecking {
			endpoint.Tell(event{Event: "ice", State: state.String()})
		}
	})
	peer.OnConnectionStateChange(func(state webrtc.PeerConnectionState) {
		if state == webrtc.PeerConnectionStateConnected {
			once.Do(func() { close(connected) })
		}
	})
	peer.SCTP().Transport().ICETransport().OnSelectedCandidatePairChange(func(pair *webrtc.ICECandidatePair) {
		remote := net.JoinHostPort(pair.Remote.Address, fmt.Sprint(pair.Remote.Port))
		endpoint.Tell(event{Event: "selected", Remote: remote})
	})
	go seen.tellRegularly()
	return connected
}

func answer(peer *webrtc.PeerConnection, offer string) error {
	description := webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: offer}
	if err := peer.SetRemoteDescription(description); err != nil {
		return fmt.Errorf("Pion refuses the offer: %w", err)
	}
	ours, err := peer.CreateAnswer(nil)
	if err != nil {
		return fmt.Errorf("Pion makes no answer: %w", err)
	}
	local, err := endpoint.Describe(peer, ours)
	if err != nil {
		return err
	}
	endpoint.Tell(event{Event: "answer", SDP: local.SDP})
	return nil
}

func head(data []byte) string {
	return hex.EncodeToString(data[:min(len(data), headBytes)])
}
