//! A schedule: whose step comes next, as data with a short printed form.
//!
//! One letter per step, the actor's: `WRWW`. It names a run in a page's address, in a test file and on the command
//! line, and replays the same run on any wire.

use std::fmt;
use std::str::FromStr;

/// The longest schedule that a text may hold; a page's address carries one.
pub const MAX_STEPS: usize = 64;

/// Letters of actors, in the order of their steps.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Schedule {
    letters: Vec<char>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    #[error("a schedule is letters, one per step, such as WRWW: {0:?} is none")]
    Letter(char),
    #[error("a schedule has at most {MAX_STEPS} steps, this one has {0}")]
    TooLong(usize),
}

impl Schedule {
    pub fn steps(&self) -> impl Iterator<Item = char> + '_ {
        self.letters.iter().copied()
    }

    pub fn len(&self) -> usize {
        self.letters.len()
    }

    pub fn is_empty(&self) -> bool {
        self.letters.is_empty()
    }

    pub fn push(&mut self, letter: char) {
        self.letters.push(letter);
    }

    pub fn pop(&mut self) -> Option<char> {
        self.letters.pop()
    }
}

impl FromIterator<char> for Schedule {
    fn from_iter<I: IntoIterator<Item = char>>(letters: I) -> Schedule {
        Schedule { letters: letters.into_iter().collect() }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.letters.iter().try_for_each(|letter| write!(f, "{letter}"))
    }
}

impl FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Schedule, ScheduleError> {
        let length = text.chars().count();
        if length > MAX_STEPS {
            return Err(ScheduleError::TooLong(length));
        }
        match text.chars().find(|letter| !letter.is_ascii_uppercase()) {
            Some(bad) => Err(ScheduleError::Letter(bad)),
            None => Ok(text.chars().collect()),
        }
    }
}
