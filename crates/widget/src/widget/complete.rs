//! `<emq-complete>`, see [`COMPLETE`].

use leptos::prelude::*;

use super::presented;
use crate::element::Host;
use crate::session::kind::COMPLETE;

pub const STYLE: &str = include_str!("complete.css");

pub fn view(host: Host) -> AnyView {
    presented::view(host, &COMPLETE)
}
