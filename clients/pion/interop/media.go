package main

import (
	"encoding/binary"
	"errors"
	"io"
	"log"
	"sync/atomic"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/rtp/codecs"
	"github.com/pion/webrtc/v4"
	"github.com/pion/webrtc/v4/pkg/media"
	"github.com/pion/webrtc/v4/pkg/media/samplebuilder"

	"weft/clients/pion/endpoint"
)

const (
	// maxLate bounds how long a missing packet is waited for, in packets:
	// room for the skew of two links and a retransmission.
	maxLate       = 256
	frameInterval = time.Second / 30
)

// receive puts frames together with what Pion has for it.
func receive(peer *webrtc.PeerConnection, track *webrtc.TrackRemote, seen *counts) {
	frames := samplebuilder.New(maxLate, &codecs.VP8Packet{}, endpoint.ClockRate)
	keyframe := &rtcp.PictureLossIndication{MediaSSRC: uint32(track.SSRC())}
	ask(peer, keyframe)
	for {
		packet, _, err := track.ReadRTP()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				log.Printf("the track has ended: %v", err)
			}
			return
		}
		seen.onPacket(packet)
		frames.Push(packet)
		for frame := frames.Pop(); frame != nil; frame = frames.Pop() {
			if frame.PrevDroppedPackets > 0 {
				ask(peer, keyframe)
			}
			endpoint.Tell(event{Event: "frame", Head: head(frame.Data), Dropped: frame.PrevDroppedPackets})
		}
	}
}

func ask(peer *webrtc.PeerConnection, message rtcp.Packet) {
	if err := peer.WriteRTCP([]rtcp.Packet{message}); err != nil {
		log.Printf("a %T is not sent: %v", message, err)
	}
}

// publish sends frames as the test's own source makes them: what a VP8
// keyframe begins with, then the frame's number.
func publish(peer *webrtc.PeerConnection, connected <-chan struct{}) error {
	track, sender, err := endpoint.Camera(peer)
	if err != nil {
		return err
	}
	var keyframe atomic.Bool
	keyframe.Store(true)
	go watchRequests(sender, &keyframe)
	go func() {
		<-connected
		ticker := time.NewTicker(frameInterval)
		defer ticker.Stop()
		for number := uint64(0); ; number++ {
			<-ticker.C
			frame := make([]byte, 3_000)
			if !keyframe.Swap(false) {
				frame[0] = 1
			}
			binary.BigEndian.PutUint64(frame[10:], number)
			if err := track.WriteSample(media.Sample{Data: frame, Duration: frameInterval}); err != nil {
				log.Printf("a frame is not sent: %v", err)
				return
			}
		}
	}()
	return nil
}

// watchRequests asks the source for a keyframe when the other end does.
func watchRequests(sender *webrtc.RTPSender, keyframe *atomic.Bool) {
	for {
		packets, _, err := sender.ReadRTCP()
		if err != nil {
			return
		}
		for _, packet := range packets {
			switch packet.(type) {
			case *rtcp.PictureLossIndication, *rtcp.FullIntraRequest:
				keyframe.Store(true)
			}
		}
	}
}
