//! The generator behind `math.random`: Valkey replaces C's by the 48-bit linear congruence of drand48. It starts where
//! drand48 starts without a seed, and goes on from script to script.

/// x' = 0x5DEECE66D x + 0xB (mod 2^48); a draw is the upper 31 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lrand48 {
    x: u64,
}

impl Default for Lrand48 {
    fn default() -> Lrand48 {
        Lrand48 { x: 0x1234_abcd_330e }
    }
}

impl Lrand48 {
    /// The largest draw.
    pub const MAX: i32 = i32::MAX;
    const MASK: u64 = (1 << 48) - 1;

    pub fn new(seed: i32) -> Lrand48 {
        let seed = u64::from(seed.cast_unsigned());
        Lrand48 { x: (seed << 16) | 0x330e }
    }

    pub fn draw(&mut self) -> i32 {
        self.x = self.x.wrapping_mul(0x5_DEEC_E66D).wrapping_add(0xb) & Lrand48::MASK;
        i32::try_from(self.x >> 17).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::Lrand48;

    /// What `tostring(math.random())` gives three times on Valkey 8.0.1 and 9.1.2.
    #[test]
    fn the_sequences_are_those_of_valkey() {
        let draws = |mut random: Lrand48| {
            [(); 3].map(|()| format!("{:.13}", f64::from(random.draw()) / f64::from(Lrand48::MAX)))
        };
        assert_eq!(draws(Lrand48::default()), ["0.3964647736384", "0.8404853697123", "0.3533360973715"]);
        assert_eq!(draws(Lrand48::new(0)), ["0.1708280361122", "0.7499019805109", "0.0963716553973"]);
    }
}
