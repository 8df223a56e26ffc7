//! A short list of pairs in one block of memory: one allocation, copied by one move, searched from the front.
//!
//! An entry is two lengths (four bytes each, little endian), then the two byte strings.

const HEAD: usize = 8;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Packed {
    bytes: Vec<u8>,
    len: usize,
}

/// Where an entry lies in the block.
#[derive(Clone, Copy, Debug)]
struct Place {
    at: usize,
    first: usize,
    second: usize,
}

impl Place {
    fn second_at(self) -> usize {
        self.at + HEAD + self.first
    }

    fn end(self) -> usize {
        self.second_at() + self.second
    }
}

impl Packed {
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn get(&self, first: &[u8]) -> Option<&[u8]> {
        let place = self.find(first)?;
        self.bytes.get(place.second_at()..place.end())
    }

    pub fn push(&mut self, first: &[u8], second: &[u8]) {
        self.bytes.reserve(HEAD + first.len() + second.len());
        self.bytes.extend_from_slice(&length(first).to_le_bytes());
        self.bytes.extend_from_slice(&length(second).to_le_bytes());
        self.bytes.extend_from_slice(first);
        self.bytes.extend_from_slice(second);
        self.len += 1;
    }

    /// Replaces what `first` maps to; false when it maps to nothing.
    pub fn replace(&mut self, first: &[u8], second: &[u8]) -> bool {
        let Some(place) = self.find(first) else { return false };
        if second.len() == place.second {
            self.bytes[place.second_at()..place.end()].copy_from_slice(second);
        } else {
            self.bytes[place.at + 4..place.at + HEAD].copy_from_slice(&length(second).to_le_bytes());
            self.bytes.splice(place.second_at()..place.end(), second.iter().copied());
        }
        true
    }

    pub fn remove(&mut self, first: &[u8]) -> bool {
        let Some(place) = self.find(first) else { return false };
        self.bytes.drain(place.at..place.end());
        self.len -= 1;
        true
    }

    pub fn iter(&self) -> Pairs<'_> {
        Pairs { bytes: &self.bytes }
    }

    fn find(&self, first: &[u8]) -> Option<Place> {
        let mut at = 0;
        while let Some(place) = place_at(&self.bytes, at) {
            if place.first == first.len() && self.bytes.get(at + HEAD..place.second_at()) == Some(first) {
                return Some(place);
            }
            at = place.end();
        }
        None
    }
}

/// The pairs of a [`Packed`], in the order in which they came.
#[derive(Clone, Debug)]
pub(crate) struct Pairs<'a> {
    bytes: &'a [u8],
}

impl<'a> Iterator for Pairs<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let place = place_at(self.bytes, 0)?;
        let (entry, rest) = self.bytes.split_at_checked(place.end())?;
        self.bytes = rest;
        Some((entry.get(HEAD..place.second_at())?, entry.get(place.second_at()..)?))
    }
}

fn place_at(bytes: &[u8], at: usize) -> Option<Place> {
    let head: [u8; HEAD] = bytes.get(at..at + HEAD)?.try_into().ok()?;
    let [a, b, c, d, e, f, g, h] = head;
    let first = u32::from_le_bytes([a, b, c, d]) as usize;
    let second = u32::from_le_bytes([e, f, g, h]) as usize;
    Some(Place { at, first, second })
}

/// No value is as long as 4 GiB: the engine's limit on a value is far below.
fn length(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX)
}
