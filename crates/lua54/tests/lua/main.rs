//! The same tests natively, in Node and in a browser; the commands are in the crate's README.

mod golden;

mod errors;
mod libraries;
mod limits;
mod numbers;
mod order;
