//! Generated dialogues, on the engine and on a real server: what differs is shrunk to the shortest that differs.
//!
//! Dialogues and scripts grow from two grammars ([`Generator`]), each from a seed and its number alone, so that any can
//! be had again. Many go to the server in one pipeline. A difference is run again before it counts, and then made
//! smaller as long as it differs: steps are left out, and a choice of the grammar is replaced by a smaller one.

mod dialogue;
mod grammar;
mod pair;
mod rules;
mod shrink;

pub use dialogue::{Dialogue, Generator, Line, Step, What};
pub use grammar::{Grammar, GrammarError, Tree};
pub use pair::{Answers, Pair};
pub use rules::{LEFT_OUT, Rule};
pub use shrink::shrink;
