//! `<emq-round-trip>`: one job through its two lives, step by step.

use leptos::prelude::AnyView;

use super::model::{self, Kind};
use crate::element::Host;
use crate::session::walk::{ATTRIBUTES, KEY, TITLE, Walk};

pub const STYLE: &str = include_str!("round_trip.css");

static KIND: Kind = Kind {
    key: KEY,
    title: TITLE,
    attributes: &ATTRIBUTES,
    make: |attribute, stages| match Walk::new(attribute, stages) {
        Ok(walk) => Ok((Box::new(walk), Walk::markup())),
        Err(error) => Err(error.to_string()),
    },
};

pub fn view(host: Host) -> AnyView {
    model::view(host, &KIND)
}
