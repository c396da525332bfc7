package main

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/interceptor/pkg/cc"
	"github.com/pion/interceptor/pkg/stats"
	"github.com/pion/rtcp"
	"github.com/pion/rtp/codecs"
	"github.com/pion/webrtc/v4"
	"github.com/pion/webrtc/v4/pkg/media"
	"github.com/pion/webrtc/v4/pkg/media/samplebuilder"

	"weft/clients/pion/endpoint"
)

// maxLate bounds how long a missing packet is waited for, in packets.
const maxLate = 64

// film is what has been sent.
type film struct {
	ssrc   uint32
	frames uint64
}

// publish sends frames from the moment of connection on.
func publish(peer *webrtc.PeerConnection, o options, bandwidth cc.BandwidthEstimator, connected <-chan struct{}) error {
	track, sender, err := endpoint.Camera(peer)
	if err != nil {
		return err
	}
	// Feedback reaches the interceptors only while it is read.
	go func() {
		for {
			if _, _, err := sender.ReadRTCP(); err != nil {
				return
			}
		}
	}()
	go func() {
		<-connected
		atomic.StoreUint32(&o.sending.ssrc, uint32(sender.GetParameters().Encodings[0].SSRC))
		interval := time.Second / time.Duration(o.fps)
		for range time.Tick(interval) {
			size := bandwidth.GetTargetBitrate() / 8 / o.fps
			// The first bit of a VP8 frame is zero for keyframes (RFC 6386 section 9.1).
			data := make([]byte, max(size, 16))
			if track.WriteSample(media.Sample{Data: data, Duration: interval}) != nil {
				return
			}
			atomic.AddUint64(&o.sending.frames, 1)
		}
	}()
	return nil
}

// drain keeps the receiver's interceptors going.
func drain(receiver *webrtc.RTPReceiver) {
	for {
		if _, _, err := receiver.ReadRTCP(); err != nil {
			return
		}
	}
}

// picture is what has been received.
type picture struct {
	lock    sync.Mutex
	ssrc    uint32
	frames  uint64
	freezes uint64
	freezeS float64
	last    time.Time
	// The last 30 times between frames, seconds.
	between []float64
}

func receive(peer *webrtc.PeerConnection, track *webrtc.TrackRemote, seen *picture) {
	seen.lock.Lock()
	seen.ssrc = uint32(track.SSRC())
	seen.lock.Unlock()
	frames := samplebuilder.New(maxLate, &codecs.VP8Packet{}, endpoint.ClockRate)
	keyframe := []rtcp.Packet{&rtcp.PictureLossIndication{MediaSSRC: uint32(track.SSRC())}}
	for {
		packet, _, err := track.ReadRTP()
		if err != nil {
			return
		}
		frames.Push(packet)
		for frame := frames.Pop(); frame != nil; frame = frames.Pop() {
			if frame.PrevDroppedPackets > 0 {
				_ = peer.WriteRTCP(keyframe)
			}
			seen.onFrame(time.Now())
		}
	}
}

// onFrame counts freezes as W3C webrtc-stats defines freezeCount: a time of at
// least max(3 d, d + 150 ms), d being the mean of the last 30.
func (p *picture) onFrame(now time.Time) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.frames++
	if p.frames > 1 {
		took := now.Sub(p.last).Seconds()
		var sum float64
		for _, each := range p.between {
			sum += each
		}
		if n := len(p.between); n > 0 {
			mean := sum / float64(n)
			if took >= max(3*mean, mean+0.15) {
				p.freezes++
				p.freezeS += took
			}
		}
		p.between = append(p.between, took)
		if len(p.between) > 30 {
			p.between = p.between[1:]
		}
	}
	p.last = now
}

func (p *picture) look(getter stats.Getter) *received {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.ssrc == 0 || getter == nil {
		return nil
	}
	s := getter.Get(p.ssrc)
	if s == nil {
		return nil
	}
	in := s.InboundRTPStreamStats
	return &received{
		Bytes:   in.BytesReceived + in.HeaderBytesReceived,
		Packets: in.PacketsReceived,
		Lost:    in.PacketsLost,
		Frames:  p.frames,
		Freezes: p.freezes,
		FreezeS: p.freezeS,
	}
}
