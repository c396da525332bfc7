package main

import (
	"net"
	"sync"
	"time"

	"github.com/pion/rtp"
	"github.com/pion/transport/v4"
	"github.com/pion/transport/v4/stdnet"

	"weft/clients/pion/endpoint"
)

const countsInterval = 500 * time.Millisecond

// counts are totals. From is taken at the socket, the others after all that
// Pion drops: what its ICE does not accept, and what SRTP calls a replay.
type counts struct {
	lock sync.Mutex
	// From has the packets of RTP and RTCP by remote address.
	From map[string]uint64 `json:"from"`
	// Read is the number of packets of the track.
	Read uint64 `json:"read"`
	// Late came after a packet with a higher number.
	Late uint64 `json:"late"`

	highest uint16
}

func (c *counts) onDatagram(from net.Addr, data []byte) {
	// RFC 7983 section 7 tells them from STUN and DTLS.
	if len(data) == 0 || data[0] < 128 || data[0] > 191 {
		return
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	c.From[from.String()]++
}

func (c *counts) onPacket(packet *rtp.Packet) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.Read++
	if ahead := packet.SequenceNumber - c.highest; c.Read == 1 || ahead < 1<<15 {
		c.highest = packet.SequenceNumber
	} else {
		c.Late++
	}
}

func (c *counts) tellRegularly() {
	for range time.Tick(countsInterval) {
		c.tell()
	}
}

func (c *counts) tell() {
	c.lock.Lock()
	defer c.lock.Unlock()
	endpoint.Tell(event{Event: "counts", Counts: c})
}

// network is the system's, with sockets that count.
type network struct {
	*stdnet.Net
	seen *counts
}

func newNetwork(seen *counts) (transport.Net, error) {
	system, err := stdnet.NewNet()
	return &network{system, seen}, err
}

func (n *network) ListenUDP(name string, local *net.UDPAddr) (transport.UDPConn, error) {
	socket, err := n.Net.ListenUDP(name, local)
	if err != nil {
		return nil, err
	}
	return &countingSocket{socket, n.seen}, nil
}

type countingSocket struct {
	transport.UDPConn
	seen *counts
}

func (s *countingSocket) ReadFrom(buffer []byte) (int, net.Addr, error) {
	n, from, err := s.UDPConn.ReadFrom(buffer)
	if err == nil {
		s.seen.onDatagram(from, buffer[:n])
	}
	return n, from, err
}
