//! Relaying between a pipe instead of a connection, and real UDP sockets.

use super::session::tests::{Signer, terms};
use super::*;
use crate::http_slots::HttpSlots;
use crate::log::Log;
use crate::refusals::Refusals;
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::net::UdpSocket;

/// Capacity of a pipe in octets.
const PIPE: usize = 1024;

struct Client {
    pipe: DuplexStream,
    media: UdpSocket,
    slots: HttpSlots,
}

impl Client {
    async fn start() -> Client {
        let media = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let peers = MediaPeers::new(&[media.local_addr().unwrap()], &[]);
        let client = SocketAddr::from(([192, 0, 2, 1], 40_000));
        let session = Session::new(client, Transport::Stream, terms(peers, (10, 10)));
        let slots = HttpSlots::new(1, 1, Arc::new(Refusals::new(Log::default())));
        let slot = slots.enter(client.ip()).await.unwrap();
        let (pipe, io) = tokio::io::duplex(PIPE);
        tokio::spawn(relay::stream(Box::pin(io), session, slot));
        Client { pipe, media, slots }
    }

    async fn ask(&mut self, request: &[u8]) -> Vec<u8> {
        self.pipe.write_all(request).await.unwrap();
        let mut answer = vec![0; 20];
        self.pipe.read_exact(&mut answer).await.unwrap();
        let length = usize::from(u16::from_be_bytes([answer[2], answer[3]]));
        answer.resize(20 + length, 0);
        self.pipe.read_exact(&mut answer[20..]).await.unwrap();
        answer
    }

    /// Creates an allocation and binds channel 0x4000. Returns the relayed address.
    async fn allocate(&mut self) -> SocketAddr {
        let challenge = self.ask(&Signer::stranger()).await;
        let mut signer = Signer::challenged(&challenge);
        let relayed = Signer::relayed(&self.ask(&signer.allocate()).await);
        let media = self.media.local_addr().unwrap();
        self.ask(&signer.bind(0x4000, media)).await;
        relayed
    }

    async fn is_closed(&mut self) -> bool {
        self.pipe.read(&mut [0]).await.unwrap_or(0) == 0
    }
}

#[tokio::test]
async fn packets_pass_both_ways() {
    let mut client = Client::start().await;
    let relayed = client.allocate().await;
    // Two packets in one write, the first one padded.
    let both = [0x40, 0, 0, 1, 7, 0, 0, 0, 0x40, 0, 0, 4, 1, 2, 3, 4];
    client.pipe.write_all(&both).await.unwrap();
    let mut datagram = [0; 9];
    for wanted in [&[7][..], &[1, 2, 3, 4]] {
        let (length, from) = client.media.recv_from(&mut datagram).await.unwrap();
        assert_eq!((&datagram[..length], from), (wanted, relayed));
    }
    // A stranger's packet is dropped.
    let stranger = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    stranger.send_to(b"spam", relayed).await.unwrap();
    client.media.send_to(b"abc", relayed).await.unwrap();
    let mut message = [0; 8];
    client.pipe.read_exact(&mut message).await.unwrap();
    assert_eq!(message, *b"\x40\0\0\x03abc\0");
}

#[tokio::test]
async fn a_client_that_does_not_read_loses_packets_and_costs_no_more_memory() {
    let mut client = Client::start().await;
    let relayed = client.allocate().await;
    let packet = [9; 1000];
    for _ in 0..400 {
        client.media.send_to(&packet, relayed).await.unwrap();
        tokio::task::yield_now().await;
    }
    let mut read = Vec::new();
    let pause = Duration::from_millis(300);
    while tokio::time::timeout(pause, client.pipe.read_buf(&mut read))
        .await
        .is_ok()
    {}
    // SECURITY.md states this bound.
    let (least, most) = (100 * 1024, 128 * 1024 + 2 * PIPE);
    assert!((least..most).contains(&read.len()), "{} octets", read.len());
    assert_eq!(read.len() % 1004, 0, "whole packets only");
}

#[tokio::test(start_paused = true)]
async fn a_client_without_an_allocation_is_cut_off() {
    let mut client = Client::start().await;
    let start = tokio::time::Instant::now();
    client.ask(&Signer::stranger()).await;
    assert!(client.is_closed().await);
    // SECURITY.md states this time.
    assert_eq!(start.elapsed().as_secs(), 10);
}

#[tokio::test]
async fn an_unauthenticated_connection_gives_way() {
    let mut client = Client::start().await;
    client.ask(&Signer::stranger()).await;
    assert!(client.slots.enter([192, 0, 2, 2].into()).await.is_some());
    assert!(client.is_closed().await);
    // A known client has a place among the allocations.
    let mut client = Client::start().await;
    let relayed = client.allocate().await;
    assert!(client.slots.enter([192, 0, 2, 2].into()).await.is_some());
    client.media.send_to(b"abcd", relayed).await.unwrap();
    let mut message = [0; 8];
    client.pipe.read_exact(&mut message).await.unwrap();
    assert_eq!(message, *b"\x40\0\0\x04abcd");
}
