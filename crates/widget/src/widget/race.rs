//! `<emq-race>`: two ways to finish a job, with a reaper running, and the learner as the scheduler.

use leptos::prelude::AnyView;

use super::model::{self, Kind};
use crate::element::Host;
use crate::session::desk::{ATTRIBUTES, Desk, KEY, TITLE};

pub const STYLE: &str = concat!(include_str!("../part/lanes.css"), include_str!("race.css"));

static KIND: Kind = Kind {
    key: KEY,
    title: TITLE,
    attributes: &ATTRIBUTES,
    make: |attribute, _| match Desk::new(attribute) {
        Ok(desk) => {
            let markup = desk.markup();
            Ok((Box::new(desk), markup))
        }
        Err(error) => Err(error.to_string()),
    },
};

pub fn view(host: Host) -> AnyView {
    model::view(host, &KIND)
}
