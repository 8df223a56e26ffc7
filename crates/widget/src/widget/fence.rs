//! `<emq-fence>`, see [`FENCE`].

use leptos::prelude::*;

use super::presented;
use crate::element::Host;
use crate::session::kind::FENCE;

pub const STYLE: &str = include_str!("fence.css");

pub fn view(host: Host) -> AnyView {
    presented::view(host, &FENCE)
}
