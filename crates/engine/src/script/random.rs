//! The generator behind `math.random`: Valkey replaces C's by one that gives every script the same sequence on every
//! machine, the 48-bit linear congruence of drand48, seeded with 0 when a script starts.

/// x' = 0x5DEECE66D x + 0xB (mod 2^48); a draw is the upper 31 bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lrand48 {
    x: u64,
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

    #[test]
    fn the_sequence_of_seed_0_is_that_of_valkey() {
        let mut random = Lrand48::new(0);
        let draws: Vec<f64> = (0..3).map(|_| f64::from(random.draw()) / f64::from(Lrand48::MAX)).collect();
        // `return {tostring(math.random()), …}` on Valkey 9.1.2 prints the second and third of these with %.14g.
        assert_eq!(format!("{:.14} {:.14}", draws[1], draws[2]), "0.84048536971234 0.35333609737146");
    }
}
