// Package endpoint is what both commands of this module need of Pion and of
// their output.
package endpoint

import (
	"encoding/json"
	"fmt"
	"log"
	"sync"

	"github.com/pion/webrtc/v4"
)

// ClockRate of video (RFC 6184 section 8.2.1, RFC 7741 section 6.1).
const ClockRate = 90_000

var output sync.Mutex

// Tell writes a line of JSON.
func Tell(line any) {
	text, err := json.Marshal(line)
	if err != nil {
		log.Fatalf("a line that is no JSON: %v", err)
	}
	output.Lock()
	defer output.Unlock()
	fmt.Printf("%s\n", text)
}

// Camera adds a track of VP8 to the connection.
func Camera(peer *webrtc.PeerConnection) (*webrtc.TrackLocalStaticSample, *webrtc.RTPSender, error) {
	capability := webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8, ClockRate: ClockRate}
	track, err := webrtc.NewTrackLocalStaticSample(capability, "video", "pion")
	if err != nil {
		return nil, nil, err
	}
	sender, err := peer.AddTrack(track)
	return track, sender, err
}

// Describe makes the description the connection's own and gives it back once
// it has all candidates.
func Describe(peer *webrtc.PeerConnection, description webrtc.SessionDescription) (*webrtc.SessionDescription, error) {
	gathered := webrtc.GatheringCompletePromise(peer)
	if err := peer.SetLocalDescription(description); err != nil {
		return nil, fmt.Errorf("Pion refuses its own description: %w", err)
	}
	<-gathered
	return peer.LocalDescription(), nil
}
