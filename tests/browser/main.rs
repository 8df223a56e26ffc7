//! The pages in a real browser.

mod clicks;
mod pages;
mod rung;
