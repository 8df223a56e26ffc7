//! `<emq-retry>`, see [`RETRY`].

use leptos::prelude::AnyView;

use super::model::{self, Kind};
use crate::element::Host;
use crate::session::bench::Bench;
use crate::session::kind::{ATTRIBUTES, RETRY};

pub const STYLE: &str = include_str!("retry.css");

static KIND: Kind = Kind {
    key: RETRY.key,
    title: RETRY.title,
    attributes: &ATTRIBUTES,
    make: |attribute, stages| Ok((Box::new(Bench::new(&RETRY, attribute, stages)), Bench::markup(&RETRY))),
};

pub fn view(host: Host) -> AnyView {
    model::view(host, &KIND)
}
