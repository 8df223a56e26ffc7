//! `<emq-retry>`, see [`RETRY`].

use leptos::prelude::*;

use super::presented;
use crate::element::Host;
use crate::session::kind::RETRY;

pub const STYLE: &str = include_str!("retry.css");

pub fn view(host: Host) -> AnyView {
    presented::view(host, &RETRY)
}
