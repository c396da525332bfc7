// Command whep is a WHEP server that knows nothing of weft: its peer connections
// are Pion's. It sends made-up frames of VP8 to each player, prints its port and
// then a line for each request, and ends with its input.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/webrtc/v4"
	"github.com/pion/webrtc/v4/pkg/media"

	"weft/clients/pion/endpoint"
)

const frameInterval = time.Second / 30

type server struct {
	// Paths below say which side offers:
	// /answer takes the player's offer (201), /counter refuses it and offers
	// itself (406), /empty refuses it and offers only if asked with an empty
	// body, /later has a stream only from the second request on (409 before).
	mutex   sync.Mutex
	asked   map[string]int
	players map[string]*webrtc.PeerConnection
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("whep: ")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	own := &server{asked: map[string]int{}, players: map[string]*webrtc.PeerConnection{}}
	go func() { log.Fatal(http.Serve(listener, own)) }()
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Println(r.Method, r.URL.Path, len(body) > 0)
	if r.Header.Get("Authorization") != "Bearer open-sesame" {
		http.Error(w, "no token", http.StatusUnauthorized)
		return
	}
	switch r.Method {
	case http.MethodPost:
		s.asked[r.URL.Path]++
		err = s.play(w, r.URL.Path, string(body))
	case http.MethodPatch:
		answer := webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: string(body)}
		if err = s.players[r.URL.Path].SetRemoteDescription(answer); err == nil {
			w.WriteHeader(http.StatusNoContent)
		}
	case http.MethodDelete:
		err = s.players[r.URL.Path].Close()
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func (s *server) play(w http.ResponseWriter, path, offer string) error {
	if path == "/later" && s.asked[path] == 1 {
		w.Header().Set("Retry-After", "2")
		http.Error(w, "nobody publishes", http.StatusConflict)
		return nil
	}
	if path == "/empty" && offer != "" {
		http.Error(w, "the body must be empty", http.StatusBadRequest)
		return nil
	}
	peer, err := connection()
	if err != nil {
		return err
	}
	description, err := describe(peer, path == "/counter" || path == "/empty", offer)
	if err != nil {
		return err
	}
	location := fmt.Sprintf("/player/%d", len(s.players))
	s.players[location] = peer
	w.Header().Set("Content-Type", "application/sdp")
	w.Header().Set("Location", strings.TrimPrefix(location, "/"))
	status := http.StatusCreated
	if path == "/counter" {
		status = http.StatusNotAcceptable
	}
	w.WriteHeader(status)
	_, err = io.WriteString(w, description.SDP)
	return err
}

func connection() (*webrtc.PeerConnection, error) {
	var settings webrtc.SettingEngine
	settings.SetIncludeLoopbackCandidate(true)
	settings.SetIPFilter(net.IP.IsLoopback)
	settings.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	settings.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	api := webrtc.NewAPI(webrtc.WithSettingEngine(settings))
	peer, err := api.NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		return nil, err
	}
	track, sender, err := endpoint.Camera(peer)
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			// Feedback is read, so that Pion's own handlers see it.
			if _, _, err := sender.ReadRTCP(); err != nil {
				return
			}
		}
	}()
	peer.OnConnectionStateChange(func(state webrtc.PeerConnectionState) {
		if state == webrtc.PeerConnectionStateConnected {
			go send(peer, track)
		}
	})
	return peer, nil
}

func describe(peer *webrtc.PeerConnection, offers bool, offer string) (*webrtc.SessionDescription, error) {
	if offers {
		own, err := peer.CreateOffer(nil)
		if err != nil {
			return nil, err
		}
		return endpoint.Describe(peer, own)
	}
	theirs := webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: offer}
	if err := peer.SetRemoteDescription(theirs); err != nil {
		return nil, err
	}
	own, err := peer.CreateAnswer(nil)
	if err != nil {
		return nil, err
	}
	return endpoint.Describe(peer, own)
}

// send makes frames as VP8 has them: what a keyframe begins with, or another.
func send(peer *webrtc.PeerConnection, track *webrtc.TrackLocalStaticSample) {
	ticker := time.NewTicker(frameInterval)
	defer ticker.Stop()
	for number := 0; peer.ConnectionState() == webrtc.PeerConnectionStateConnected; number++ {
		<-ticker.C
		frame := make([]byte, 3_000)
		if number%30 != 0 {
			frame[0] = 1
		}
		if err := track.WriteSample(media.Sample{Data: frame, Duration: frameInterval}); err != nil {
			log.Printf("a frame is not sent: %v", err)
			return
		}
	}
}
