//! `<emq-fence>`, see [`FENCE`].

use leptos::prelude::AnyView;

use super::model::{self, Kind};
use crate::element::Host;
use crate::session::bench::Bench;
use crate::session::kind::{ATTRIBUTES, FENCE};

pub const STYLE: &str = include_str!("fence.css");

static KIND: Kind = Kind {
    key: FENCE.key,
    title: FENCE.title,
    attributes: &ATTRIBUTES,
    make: |attribute, stages| Ok((Box::new(Bench::new(&FENCE, attribute, stages)), Bench::markup(&FENCE))),
};

pub fn view(host: Host) -> AnyView {
    model::view(host, &KIND)
}
