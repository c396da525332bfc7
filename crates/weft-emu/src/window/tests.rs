use super::*;
use crate::packet::tests::checksum;
use proptest::prelude::*;

const ACK: u8 = 0x10;
/// Maximum segment size 1460, nothing, window scale 7.
const OPTIONS: [u8; 8] = [2, 4, 0x05, 0xb4, NO_OPERATION, WINDOW_SCALE, 3, 7];

/// A segment of 198.18.0.2 without data and with a correct checksum.
fn segment(flags: u8, window: u16, options: &[u8]) -> Vec<u8> {
    let length = HEADER + options.len();
    let mut packet = vec![0x45, 0, 0, 20 + length as u8, 0, 0, 0x40, 0, 64, TCP, 0, 0];
    packet.extend([198, 18, 0, 2, 198, 18, 0, 1]);
    packet.extend([0x14, 0x51, 0xc0, 0x00, 0, 0, 0, 1, 0, 0, 0, 1]);
    packet.extend([(length as u8 / 4) << 4, flags]);
    packet.extend(window.to_be_bytes());
    packet.extend([0; 4]);
    packet.extend(options);
    let sum = tcp_checksum(&packet);
    packet[36..38].copy_from_slice(&sum.to_be_bytes());
    packet
}

/// Computes a sum that is zero if the checksum is correct: with the pseudo header of RFC
/// 9293 section 3.1.
fn tcp_checksum(packet: &[u8]) -> u16 {
    let mut summed = packet[12..20].to_vec();
    summed.extend([0, TCP, 0, packet.len() as u8 - 20]);
    summed.extend(&packet[20..]);
    checksum(&summed)
}

fn applied(window: &mut ReceiveWindow, mut packet: Vec<u8>) -> u16 {
    let header = Header::of(&packet).unwrap();
    window.apply(&header, &mut packet);
    assert_eq!(tcp_checksum(&packet), 0);
    u16::from_be_bytes([packet[34], packet[35]])
}

#[test]
fn a_window_is_cut_by_the_scale_of_its_connection() {
    let mut window = ReceiveWindow::new(Bytes(1_500_000));
    assert_eq!(
        applied(&mut window, segment(SYN | ACK, 65_160, &OPTIONS)),
        65_160
    );
    // 1,500,000 / 128 = 11,718.75.
    assert_eq!(applied(&mut window, segment(ACK, 20_000, &[])), 11_718);
    assert_eq!(applied(&mut window, segment(ACK, 11_000, &[])), 11_000);
}

#[test]
fn without_a_scale_a_window_counts_bytes() {
    let mut window = ReceiveWindow::new(Bytes(10_000));
    applied(&mut window, segment(SYN, 65_160, &[NO_OPERATION; 4]));
    assert_eq!(applied(&mut window, segment(ACK, 60_000, &[])), 10_000);
}

#[test]
fn connections_that_began_unseen_are_left_alone() {
    let mut window = ReceiveWindow::new(Bytes(10_000));
    assert_eq!(applied(&mut window, segment(ACK, 60_000, &[])), 60_000);
}

#[test]
fn a_window_smaller_than_its_steps_is_not_closed() {
    let mut window = ReceiveWindow::new(Bytes(100));
    applied(&mut window, segment(SYN, 65_160, &OPTIONS));
    assert_eq!(applied(&mut window, segment(ACK, 60_000, &[])), 1);
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..80), flags in any::<u8>()) {
        let mut packet = segment(flags, 60_000, &[]);
        packet.splice(32..33, [0xf0]);
        packet.extend(&bytes);
        let header = Header::of(&packet).unwrap();
        ReceiveWindow::new(Bytes(1)).apply(&header, &mut packet);
        let mut bytes = bytes;
        if let Some(header) = Header::of(&bytes) {
            ReceiveWindow::new(Bytes(1)).apply(&header, &mut bytes);
        }
    }
}
