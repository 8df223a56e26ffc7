//! The attributes of an element as the scene that they set. Values come from a page's author: a bad one is answered
//! with a sentence, never with a crash.

use std::ops::RangeInclusive;

use super::staged::MAX_ATTEMPTS;

/// What `attempts` can be: the job of a scene is under lease.
pub const ATTEMPTS: RangeInclusive<u64> = 1..=MAX_ATTEMPTS;

/// The scene of an element that presents tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scene {
    pub attempts: u64,
    /// The token of the caller who does not hold the lease.
    pub token: String,
    /// Max attempts, delay in ms and error of a retry, as they are sent: the script judges them.
    pub max: String,
    pub delay: String,
    pub error: String,
}

/// An attribute that no scene can be made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadAttribute {
    name: &'static str,
    value: String,
    range: RangeInclusive<u64>,
}

impl Scene {
    pub fn new(attempts: u64, token: &str) -> Scene {
        let token = token.to_owned();
        let (max, delay, error) = ("2".to_owned(), "5000".to_owned(), "card declined".to_owned());
        Scene { attempts, token, max, delay, error }
    }

    /// Reads the attributes that are given; `defaults` has the others.
    ///
    /// # Errors
    /// The first attribute that is not what it must be.
    pub fn read(
        attribute: impl Fn(&'static str) -> Option<String>,
        defaults: &Scene,
    ) -> Result<Scene, BadAttribute> {
        let number = |name, range: RangeInclusive<u64>, default| match attribute(name) {
            None => Ok(default),
            Some(value) => match value.trim().parse() {
                Ok(number) if range.contains(&number) => Ok(number),
                _ => Err(BadAttribute { name, value, range }),
            },
        };
        let text = |name, default: &str| attribute(name).unwrap_or_else(|| default.to_owned());
        Ok(Scene {
            attempts: number("attempts", ATTEMPTS, defaults.attempts)?,
            token: text("token", &defaults.token),
            max: text("max", &defaults.max),
            delay: text("delay", &defaults.delay),
            error: text("error", &defaults.error),
        })
    }
}

/// What a reader may change, and a link may carry.
const CHANGEABLE: [&str; 4] = ["attempts", "max", "delay", "error"];

impl Scene {
    /// What a link must carry so that it opens this scene on a page that sets `base`.
    pub fn changes(&self, base: &Scene) -> Vec<(&'static str, String)> {
        let values = |scene: &Scene| {
            [scene.attempts.to_string(), scene.max.clone(), scene.delay.clone(), scene.error.clone()]
        };
        let pairs = CHANGEABLE.into_iter().zip(values(self)).zip(values(base));
        pairs.filter(|((_, own), base)| own != base).map(|(own, _)| own).collect()
    }

    /// The scene with the values of a link, see [`Scene::changes`].
    ///
    /// # Errors
    /// The first value that is not what it must be.
    pub fn with(&self, values: &[(String, String)]) -> Result<Scene, BadAttribute> {
        let value = |name: &str| values.iter().find(|(has, _)| has == name).map(|(_, value)| value.clone());
        Scene::read(|name| value(name).filter(|_| CHANGEABLE.contains(&name)), self)
    }
}

impl std::fmt::Display for BadAttribute {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let BadAttribute { name, value, range } = self;
        write!(f, "{name}={value:?} is not a whole number from {} to {}.", range.start(), range.end())
    }
}

impl std::error::Error for BadAttribute {}

#[cfg(test)]
mod tests {
    use super::Scene;

    fn defaults() -> Scene {
        Scene::new(1, "99")
    }

    fn read(attributes: &[(&str, &str)]) -> Result<Scene, String> {
        let find = |name: &str| attributes.iter().find(|(has, _)| *has == name);
        let attribute = |name: &'static str| find(name).map(|(_, value)| (*value).to_owned());
        Scene::read(attribute, &defaults()).map_err(|bad| bad.to_string())
    }

    #[test]
    fn what_is_not_given_has_its_default() {
        assert_eq!(read(&[]), Ok(defaults()));
        let given = read(&[("attempts", " 2 "), ("token", "x")]);
        assert_eq!(given, Ok(Scene { attempts: 2, token: "x".into(), ..defaults() }));
    }

    #[test]
    fn a_link_carries_what_the_reader_changed() {
        let changed = Scene { attempts: 2, error: "no".into(), ..defaults() };
        let values = changed.changes(&defaults());
        assert_eq!(values, [("attempts", "2".to_owned()), ("error", "no".to_owned())]);
        let values: Vec<_> = values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        assert_eq!(defaults().with(&values), Ok(changed));
        let token = [("token".to_owned(), "1".to_owned())];
        assert_eq!(defaults().with(&token), Ok(defaults()), "a link does not change what the page chose");
    }

    #[test]
    fn a_bad_value_is_named() {
        for value in ["0", "100", "-1", "two", "", "1e3"] {
            let message = format!("attempts={value:?} is not a whole number from 1 to 99.");
            assert_eq!(read(&[("attempts", value)]), Err(message));
        }
    }
}
