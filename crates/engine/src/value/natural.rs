//! Natural numbers of any size, with as much arithmetic as exact reading and printing of floats takes.

/// A natural number of any size: 32 bits a limb, the lowest first, no zero limb on top.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Natural(Vec<u32>);

impl From<u64> for Natural {
    fn from(n: u64) -> Natural {
        let mut natural = Natural(vec![n as u32, (n >> 32) as u32]);
        natural.trim();
        natural
    }
}

impl Natural {
    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    fn trim(&mut self) {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }

    fn bits(&self) -> u32 {
        let top = self.0.last().map_or(0, |limb| 32 - limb.leading_zeros());
        (self.0.len() as u32).saturating_sub(1) * 32 + top
    }

    fn bit(&self, at: u32) -> bool {
        self.0.get((at / 32) as usize).is_some_and(|limb| limb >> (at % 32) & 1 == 1)
    }

    pub fn multiply_add(&mut self, factor: u32, summand: u32) {
        let mut carry = u64::from(summand);
        for limb in &mut self.0 {
            carry += u64::from(*limb) * u64::from(factor);
            *limb = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    pub fn times(&self, other: &Natural) -> Natural {
        let mut product = vec![0_u32; self.0.len() + other.0.len()];
        for (at, &a) in self.0.iter().enumerate() {
            let mut carry = 0_u64;
            for (place, &b) in product.iter_mut().skip(at).zip(other.0.iter().chain(std::iter::once(&0))) {
                carry += u64::from(*place) + u64::from(a) * u64::from(b);
                *place = carry as u32;
                carry >>= 32;
            }
        }
        let mut product = Natural(product);
        product.trim();
        product
    }

    pub fn shifted_left(&self, by: u32) -> Natural {
        let mut limbs = vec![0; (by / 32) as usize];
        let mut carry = 0;
        for &limb in &self.0 {
            let wide = (u64::from(limb) << (by % 32)) | carry;
            limbs.push(wide as u32);
            carry = wide >> 32;
        }
        limbs.push(carry as u32);
        let mut shifted = Natural(limbs);
        shifted.trim();
        shifted
    }

    fn is_below(&self, other: &Natural) -> bool {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.iter().rev().cmp(other.0.iter().rev())).is_lt()
    }

    /// Takes away what is not larger.
    fn subtract(&mut self, other: &Natural) {
        let mut borrow = 0_i64;
        for (limb, &b) in self.0.iter_mut().zip(other.0.iter().chain(std::iter::repeat(&0))) {
            let difference = i64::from(*limb) - i64::from(b) - borrow;
            borrow = i64::from(difference < 0);
            *limb = difference as u32;
        }
        self.trim();
    }

    /// The highest bits and the power of two of the lowest of them. Where more was cut off the lowest bit is set,
    /// so that rounding sees it.
    pub fn top_bits(&self) -> (u128, i32) {
        let bits = self.bits();
        let kept = bits.min(QUOTIENT_BITS);
        let dropped = bits - kept;
        let mut top = (0..kept).rev().fold(0_u128, |top, at| top << 1 | u128::from(self.bit(dropped + at)));
        top |= u128::from((0..dropped).any(|at| self.bit(at)));
        (top, dropped as i32)
    }

    /// As [`Natural::top_bits`], of this number divided by another, which is not zero.
    pub fn quotient_bits(&self, divisor: &Natural) -> (u128, i32) {
        // The quotient gets one or two bits more than QUOTIENT_BITS, and then one for the rest.
        let shift = (divisor.bits() + QUOTIENT_BITS).saturating_sub(self.bits());
        let dividend = self.shifted_left(shift);
        let mut rest = Natural::default();
        let mut quotient = 0_u128;
        for at in (0..dividend.bits()).rev() {
            rest.multiply_add(2, u32::from(dividend.bit(at)));
            quotient <<= 1;
            if !rest.is_below(divisor) {
                rest.subtract(divisor);
                quotient |= 1;
            }
        }
        ((quotient << 1) | u128::from(!rest.is_zero()), -(shift as i32) - 1)
    }

    pub fn decimal(mut self) -> Vec<u8> {
        const CHUNK: u64 = 1_000_000_000;
        let mut digits = Vec::new();
        while !self.is_zero() {
            let mut rest = 0_u64;
            for limb in self.0.iter_mut().rev() {
                let wide = rest << 32 | u64::from(*limb);
                *limb = (wide / CHUNK) as u32;
                rest = wide % CHUNK;
            }
            self.trim();
            for _ in 0..9 {
                digits.push(b'0' + (rest % 10) as u8);
                rest /= 10;
            }
        }
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        if digits.is_empty() {
            digits.push(b'0');
        }
        digits.reverse();
        digits
    }
}

/// Enough for 64 bits of mantissa and the bits that decide on its rounding.
const QUOTIENT_BITS: u32 = 80;
