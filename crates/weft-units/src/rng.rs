/// Seeded random generator (xoshiro256++, Blackman and Vigna 2021), not for
/// secrets.
///
/// Every component takes its own sub-stream from [`Rng::stream`], so that an
/// additional draw in one component never shifts another.
#[derive(Clone, Debug)]
pub struct Rng {
    seed: u64,
    state: [u64; 4],
}

impl Rng {
    /// Creates the generator of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Rng {
        let mut x = seed;
        let state = std::array::from_fn(|_| split_mix(&mut x));
        Rng { seed, state }
    }

    /// Returns an independent generator for the component `name`. It depends
    /// only on the seed and the name, not on earlier draws.
    #[must_use]
    pub fn stream(&self, name: &str) -> Rng {
        // FNV-1a over the name, then mixed with the seed.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| {
            (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut x = self.seed ^ hash.rotate_left(32);
        Rng::new(split_mix(&mut x))
    }

    #[cfg(test)]
    pub(crate) fn set_state(&mut self, state: [u64; 4]) {
        self.state = state;
    }

    /// 64 uniform bits.
    pub fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let out = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c, d) = (c ^ a, d ^ b);
        let (b2, a2) = (b ^ c, a ^ d);
        self.state = [a2, b2, c ^ (b << 17), d.rotate_left(45)];
        out
    }

    /// 32 uniform bits.
    pub fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }

    /// Uniform in `0.0..1.0`.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// True with probability `p`.
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// Uniform in `0..n`. Panics if `n` is zero.
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "below(0) has no value to give");
        ((u128::from(self.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// Standard normal (Box-Muller).
    pub fn normal(&mut self) -> f64 {
        let u = (1.0 - self.unit()).max(f64::MIN_POSITIVE);
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Fills `out` with uniform bytes.
    pub fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(8) {
            let bytes = self.next_u64().to_le_bytes();
            chunk.copy_from_slice(&bytes[..chunk.len()]);
        }
    }
}

fn split_mix(x: &mut u64) -> u64 {
    *x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *x;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
