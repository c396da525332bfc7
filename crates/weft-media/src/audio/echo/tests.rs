use weft_units::Rng;

use super::*;

/// Syllables of noise: 240 ms of sound and 80 ms of silence, each with a different
/// loudness and colour.
fn speech(seed: u64, seconds: usize) -> Vec<f64> {
    let mut random = Rng::new(seed);
    let (mut low, mut loudness, mut colour) = (0.0, 0.0, 0.5);
    let sample = |n: usize| {
        if n.is_multiple_of(15_360) {
            loudness = 4_000.0 + 8_000.0 * random.unit();
            colour = 0.1 + 0.6 * random.unit();
        }
        let noise = 2.0 * random.unit() - 1.0;
        low += colour * (noise - low);
        match n % 15_360 < 11_520 {
            true => low * loudness,
            false => 0.0,
        }
    };
    (0..seconds * SAMPLE_RATE as usize).map(sample).collect()
}

fn block(samples: &[f64], number: usize) -> SoundBlock {
    let at = number * BLOCK_SAMPLES;
    std::array::from_fn(|place| samples[at + place / CHANNELS] as i16)
}

/// Sound at the microphone: three reflections, the first after 60 ms.
fn echo(samples: &[f64]) -> Vec<f64> {
    let reflections = [(2_880, 0.4), (3_100, 0.2), (4_400, 0.1)];
    let at = |n: usize| {
        let parts = reflections
            .iter()
            .map(|(delay, gain)| n.checked_sub(*delay).map_or(0.0, |at| samples[at] * gain));
        parts.sum()
    };
    (0..samples.len()).map(at).collect()
}

fn energy(block: &[i16]) -> f64 {
    block.iter().map(|s| f64::from(*s).powi(2)).sum()
}

/// Energy at the microphone before and after cancellation, starting at second `from`.
fn energies(far: &[f64], heard: &[f64], from: usize) -> (f64, f64) {
    let mut canceller = EchoCanceller::default();
    let (mut before, mut after) = (0.0, 0.0);
    for number in 0..far.len() / BLOCK_SAMPLES {
        canceller.play(&block(far, number));
        let mut microphone = block(heard, number);
        let noisy = energy(&microphone);
        canceller.clean(&mut microphone);
        if number >= from * 100 {
            before += noisy;
            after += energy(&microphone);
        }
    }
    (before, after)
}

#[test]
fn an_echo_is_gone_after_five_seconds() {
    let far = speech(1, 8);
    let (before, after) = energies(&far, &echo(&far), 5);
    let less = 10.0 * (before / after.max(1.0)).log10();
    assert!(less >= 20.0, "only {less:.1} dB less");
}

#[test]
fn sound_of_this_side_passes() {
    let near = speech(2, 4);
    let (before, after) = energies(&vec![0.0; near.len()], &near, 1);
    let change = 10.0 * (after / before).log10();
    assert!((-3.0..1.0).contains(&change), "{change:.1} dB");
}

#[test]
fn a_microphone_is_cleaned_of_the_blocks_that_its_reference_gets() {
    struct Room(Vec<f64>, usize);
    impl Microphone for Room {
        fn pace(&self) -> Pace {
            Pace::Caller
        }

        fn read(&mut self) -> Result<AudioFrame, MicrophoneError> {
            let two = [block(&self.0, self.1), block(&self.0, self.1 + 1)].concat();
            self.1 += 2;
            Ok(two.try_into().expect("two blocks are a frame"))
        }
    }
    let far = speech(3, 7);
    let heard = echo(&far);
    let (mut microphone, reference) = EchoFreeMicrophone::new(Box::new(Room(heard.clone(), 0)));
    let (mut before, mut after) = (0.0, 0.0);
    for frame in 0..350 {
        for number in [2 * frame, 2 * frame + 1] {
            reference.play(&block(&far, number));
            before += f64::from(u8::from(frame >= 250)) * energy(&block(&heard, number));
        }
        let cleaned = microphone.read().unwrap();
        after += f64::from(u8::from(frame >= 250)) * energy(&cleaned);
    }
    let less = 10.0 * (before / after.max(1.0)).log10();
    assert!(less >= 20.0, "only {less:.1} dB less");
    // Without a reader, the reference drops blocks that do not fit.
    (0..2 * WAITING_BLOCKS).for_each(|_| reference.play(&block(&far, 0)));
}
