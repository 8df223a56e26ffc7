//! `<emq-complete>`, see [`COMPLETE`].

use leptos::prelude::AnyView;

use super::model::{self, Kind};
use crate::element::Host;
use crate::session::bench::Bench;
use crate::session::kind::{ATTRIBUTES, COMPLETE};

pub const STYLE: &str = include_str!("complete.css");

static KIND: Kind = Kind {
    key: COMPLETE.key,
    title: COMPLETE.title,
    attributes: &ATTRIBUTES,
    make: |attribute, stages| {
        Ok((Box::new(Bench::new(&COMPLETE, attribute, stages)), Bench::markup(&COMPLETE)))
    },
};

pub fn view(host: Host) -> AnyView {
    model::view(host, &KIND)
}
