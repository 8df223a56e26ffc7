//! Sorted sets: a ring buffer of members in order, and beside it, once there are many, a map from member to score.
//!
//! Valkey keeps a skip list for the order. A ring buffer answers ranks and ranges by position at once and takes
//! members from either end, which is what a queue does all day; an insertion in the middle moves memory, at most
//! half of the buffer, and that is quick for as many members as a page or a test holds.

use std::cmp::Ordering;
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::rc::Rc;

use crate::keyspace::Hasher;

/// Valkey's zset-max-listpack-entries and zset-max-listpack-value.
const LISTPACK_MEMBERS: usize = 128;
const LISTPACK_BYTES: usize = 64;

/// Up to here a member is looked up by a search from the front.
const UNINDEXED_MEMBERS: usize = 16;

#[derive(Clone, Debug, Default)]
pub struct Zset {
    order: VecDeque<Item>,
    /// Kept from the moment when there are more than [`UNINDEXED_MEMBERS`].
    scores: Option<HashMap<Rc<[u8]>, f64, Hasher>>,
    /// Has outgrown the listpack once.
    wide: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Item {
    score: f64,
    member: Rc<[u8]>,
}

/// One end of a range of scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ScoreBound {
    pub score: f64,
    pub exclusive: bool,
}

/// One end of a range of members, where all scores are equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum LexBound<'a> {
    /// `-`: before every member.
    Lowest,
    /// `+`: after every member.
    Highest,
    Member {
        member: &'a [u8],
        exclusive: bool,
    },
}

impl Zset {
    pub fn len(&self) -> usize {
        self.order.len()
    }

    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    pub fn score(&self, member: &[u8]) -> Option<f64> {
        match &self.scores {
            Some(scores) => scores.get(member).copied(),
            None => self.order.iter().find(|item| *item.member == *member).map(|item| item.score),
        }
    }

    /// The position of `member` in order, 0 for the first.
    pub fn rank(&self, member: &[u8]) -> Option<usize> {
        match &self.scores {
            Some(scores) => {
                let score = *scores.get(member)?;
                self.order.binary_search_by(|item| item.cmp(score, member)).ok()
            }
            None => self.order.iter().position(|item| *item.member == *member),
        }
    }

    /// Members with their scores, by score and then by bytes.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&[u8], f64)> + ExactSizeIterator {
        self.order.iter().map(Item::pair)
    }

    /// The members at these positions.
    pub(crate) fn range(
        &self,
        range: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = (&[u8], f64)> + ExactSizeIterator {
        let end = range.end.min(self.len());
        self.order.range(range.start.min(end)..end).map(Item::pair)
    }

    pub(crate) fn at(&self, at: usize) -> Option<(&[u8], f64)> {
        self.order.get(at).map(Item::pair)
    }

    /// Sets the score of `member`; the score that it had before. `score` is not NaN.
    pub(crate) fn insert(&mut self, member: &[u8], score: f64) -> Option<f64> {
        self.wide |= member.len() > LISTPACK_BYTES;
        // A listpack stores what is whole as an integer, and so forgets the sign of zero.
        let score = if self.wide { score } else { score + 0.0 };
        let old = self.score(member);
        let shared = match old {
            Some(old) if old.total_cmp(&score) == Ordering::Equal => return Some(old),
            Some(old) => self.take(old, member),
            None => None,
        };
        let shared = shared.unwrap_or_else(|| Rc::from(member));
        if let Some(scores) = &mut self.scores {
            scores.insert(Rc::clone(&shared), score);
        }
        self.place(Item { score, member: shared });
        self.grown();
        old
    }

    pub(crate) fn remove(&mut self, member: &[u8]) -> Option<f64> {
        match &mut self.scores {
            Some(scores) => {
                let score = scores.remove(member)?;
                self.take(score, member);
                Some(score)
            }
            None => {
                let at = self.rank(member)?;
                self.order.remove(at).map(|item| item.score)
            }
        }
    }

    /// Removes the members at these positions.
    pub(crate) fn remove_range(&mut self, range: Range<usize>) -> usize {
        let end = range.end.min(self.len());
        let start = range.start.min(end);
        for item in self.order.drain(start..end) {
            if let Some(scores) = &mut self.scores {
                scores.remove(&*item.member);
            }
        }
        end - start
    }

    pub(crate) fn pop_first(&mut self) -> Option<(Rc<[u8]>, f64)> {
        let item = self.order.pop_front();
        self.forget(item)
    }

    pub(crate) fn pop_last(&mut self) -> Option<(Rc<[u8]>, f64)> {
        let item = self.order.pop_back();
        self.forget(item)
    }

    /// The positions of the members with scores from `min` to `max`.
    pub(crate) fn score_range(&self, min: ScoreBound, max: ScoreBound) -> Range<usize> {
        let start = self.order.partition_point(|item| !min.admits_above(item.score));
        let end = self.order.partition_point(|item| max.admits_below(item.score));
        start..end.max(start)
    }

    /// The positions of the members from `min` to `max` by bytes.
    pub(crate) fn lex_range(&self, min: LexBound<'_>, max: LexBound<'_>) -> Range<usize> {
        let start = self.order.partition_point(|item| !min.admits_above(&item.member));
        let end = self.order.partition_point(|item| max.admits_below(&item.member));
        start..end.max(start)
    }

    pub(crate) fn encoding(&self) -> &'static str {
        if self.wide { "skiplist" } else { "listpack" }
    }

    /// An empty one that is no listpack, as the results of ZUNION are made.
    pub(crate) fn wide() -> Zset {
        Zset { wide: true, ..Zset::default() }
    }

    /// No listpack from now on, as SORT leaves what it reads.
    pub(crate) fn widen(&mut self) {
        self.wide = true;
    }

    /// As a result is stored: in a listpack where it fits.
    pub(crate) fn packed(self) -> Zset {
        let fits =
            self.len() <= LISTPACK_MEMBERS && self.iter().all(|(member, _)| member.len() <= LISTPACK_BYTES);
        if !fits {
            return self;
        }
        let mut packed = Zset::default();
        for (member, score) in self.iter() {
            packed.insert(member, score);
        }
        packed
    }

    /// Removes `member` with `score` from the order only.
    fn take(&mut self, score: f64, member: &[u8]) -> Option<Rc<[u8]>> {
        let at = match &self.scores {
            Some(_) => self.order.binary_search_by(|item| item.cmp(score, member)).ok()?,
            None => self.rank(member)?,
        };
        self.order.remove(at).map(|item| item.member)
    }

    fn place(&mut self, item: Item) {
        let after_last =
            self.order.back().is_none_or(|last| last.cmp(item.score, &item.member) == Ordering::Less);
        if after_last {
            self.order.push_back(item);
        } else {
            let at =
                self.order.partition_point(|other| other.cmp(item.score, &item.member) == Ordering::Less);
            self.order.insert(at, item);
        }
    }

    fn grown(&mut self) {
        self.wide |= self.len() > LISTPACK_MEMBERS;
        if self.scores.is_none() && self.len() > UNINDEXED_MEMBERS {
            let scores = self.order.iter().map(|item| (Rc::clone(&item.member), item.score)).collect();
            self.scores = Some(scores);
        }
    }

    fn forget(&mut self, item: Option<Item>) -> Option<(Rc<[u8]>, f64)> {
        let item = item?;
        if let Some(scores) = &mut self.scores {
            scores.remove(&*item.member);
        }
        Some((item.member, item.score))
    }
}

/// Equal when the members and scores are.
impl PartialEq for Zset {
    fn eq(&self, other: &Zset) -> bool {
        self.order == other.order
    }
}

impl Item {
    fn cmp(&self, score: f64, member: &[u8]) -> Ordering {
        // Neither is NaN, and the two zeros are one score.
        self.score.partial_cmp(&score).unwrap_or(Ordering::Equal).then_with(|| (*self.member).cmp(member))
    }

    fn pair(&self) -> (&[u8], f64) {
        (&self.member, self.score)
    }
}

impl ScoreBound {
    /// As a lower end.
    fn admits_above(self, score: f64) -> bool {
        if self.exclusive { score > self.score } else { score >= self.score }
    }

    /// As an upper end.
    fn admits_below(self, score: f64) -> bool {
        if self.exclusive { score < self.score } else { score <= self.score }
    }
}

impl LexBound<'_> {
    /// As a lower end.
    fn admits_above(self, other: &[u8]) -> bool {
        match self {
            LexBound::Lowest => true,
            LexBound::Highest => false,
            LexBound::Member { member, exclusive: true } => other > member,
            LexBound::Member { member, exclusive: false } => other >= member,
        }
    }

    /// As an upper end.
    fn admits_below(self, other: &[u8]) -> bool {
        match self {
            LexBound::Lowest => false,
            LexBound::Highest => true,
            LexBound::Member { member, exclusive: true } => other < member,
            LexBound::Member { member, exclusive: false } => other <= member,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The textbook form: a list, sorted again after each change.
    #[derive(Debug, Default)]
    struct Model(Vec<(f64, Vec<u8>)>);

    impl Model {
        fn insert(&mut self, member: &[u8], score: f64) -> Option<f64> {
            let old = self.remove(member);
            self.0.push((score, member.to_vec()));
            self.0.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
            old
        }

        fn remove(&mut self, member: &[u8]) -> Option<f64> {
            let at = self.0.iter().position(|item| item.1 == member)?;
            Some(self.0.remove(at).0)
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Insert(u8, i8),
        Remove(u8),
        PopFirst,
        PopLast,
        RemoveRange(usize, usize),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            8 => (0..60_u8, -4..4_i8).prop_map(|(member, score)| Step::Insert(member, score)),
            3 => (0..60_u8).prop_map(Step::Remove),
            1 => Just(Step::PopFirst),
            1 => Just(Step::PopLast),
            1 => (0..40_usize, 0..5_usize).prop_map(|(start, len)| Step::RemoveRange(start, len)),
        ];
        proptest::collection::vec(step, 0..200)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        /// Over the change from search to index and back down: the same answers as the textbook form.
        #[test]
        fn answers_as_the_textbook_form(steps in steps()) {
            let (mut zset, mut model) = (Zset::default(), Model::default());
            for step in steps {
                match step {
                    Step::Insert(member, score) => {
                        let (member, score) = ([member], f64::from(score));
                        prop_assert_eq!(zset.insert(&member, score), model.insert(&member, score));
                    }
                    Step::Remove(member) => {
                        prop_assert_eq!(zset.remove(&[member]), model.remove(&[member]));
                    }
                    Step::PopFirst => {
                        let expected = (!model.0.is_empty()).then(|| model.0.remove(0));
                        let popped = zset.pop_first().map(|(member, score)| (score, member.to_vec()));
                        prop_assert_eq!(popped, expected);
                    }
                    Step::PopLast => {
                        let popped = zset.pop_last().map(|(member, score)| (score, member.to_vec()));
                        prop_assert_eq!(popped, model.0.pop());
                    }
                    Step::RemoveRange(start, len) => {
                        let end = (start + len).min(model.0.len());
                        let start = start.min(end);
                        model.0.drain(start..end);
                        prop_assert_eq!(zset.remove_range(start..end), end - start);
                    }
                }
                let all: Vec<(f64, Vec<u8>)> = zset.iter().map(|(m, s)| (s, m.to_vec())).collect();
                prop_assert_eq!(&all, &model.0);
                for (rank, (score, member)) in model.0.iter().enumerate() {
                    prop_assert_eq!(zset.rank(member), Some(rank));
                    prop_assert_eq!(zset.score(member), Some(*score));
                }
            }
        }

        #[test]
        fn score_ranges_are_those_of_a_filter(
            scores in proptest::collection::vec(-5..5_i8, 0..60),
            (min, max, min_exclusive, max_exclusive) in (-6..6_i8, -6..6_i8, any::<bool>(), any::<bool>()),
        ) {
            let mut zset = Zset::default();
            for (member, score) in scores.iter().enumerate() {
                zset.insert(&[member as u8], f64::from(*score));
            }
            let (min, max) = (f64::from(min), f64::from(max));
            let range = zset.score_range(
                ScoreBound { score: min, exclusive: min_exclusive },
                ScoreBound { score: max, exclusive: max_exclusive },
            );
            let above = |score: f64| if min_exclusive { score > min } else { score >= min };
            let below = |score: f64| if max_exclusive { score < max } else { score <= max };
            let expected = zset.iter().filter(|(_, score)| above(*score) && below(*score)).count();
            prop_assert_eq!(range.len(), expected);
        }
    }
}
