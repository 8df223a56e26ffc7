//! Where a server is, and the forms in which that can be written.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use percent_encoding::percent_decode_str;
use url::Url;

const DEFAULT_PORT: u16 = 6379;

/// A server, the login for it, and the database to use.
///
/// Written as `redis://` or `valkey://` + `[user:password@]host[:port][/database]`, or for a unix socket as its path
/// (absolute, or with a leading `./`) or `unix:///path[?db=N&user=U&pass=P]`.
#[derive(Clone, PartialEq, Eq)]
pub struct Target {
    pub address: Address,
    /// None is the server's default user.
    pub user: Option<String>,
    pub password: Option<String>,
    pub database: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    Tcp { host: String, port: u16 },
    Unix(PathBuf),
}

/// Why a text is no [`Target`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no address of a server: {reason}")]
pub struct TargetError {
    text: String,
    reason: String,
}

impl Target {
    pub fn tcp(host: impl Into<String>, port: u16) -> Target {
        Target::without_login(Address::Tcp { host: host.into(), port })
    }

    pub fn unix(path: impl Into<PathBuf>) -> Target {
        Target::without_login(Address::Unix(path.into()))
    }

    fn without_login(address: Address) -> Target {
        Target { address, user: None, password: None, database: 0 }
    }
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Target, TargetError> {
        if text.starts_with('/') || text.starts_with("./") || text.starts_with("../") {
            return Ok(Target::unix(text));
        }
        parse_url(text).map_err(|reason| TargetError { text: without_password(text), reason })
    }
}

/// A message must not show a password, not even that of an address which can't be read.
fn without_password(text: &str) -> String {
    match (text.find("://"), text.rfind('@')) {
        (Some(scheme), Some(at)) if scheme + 3 <= at => {
            format!("{}…{}", &text[..scheme + 3], &text[at..])
        }
        _ => text.to_owned(),
    }
}

fn parse_url(text: &str) -> Result<Target, String> {
    let url = Url::parse(text).map_err(|error| match error {
        url::ParseError::RelativeUrlWithoutBase => FORMS.to_owned(),
        other => format!("{other}; {FORMS}"),
    })?;
    match url.scheme() {
        "redis" | "valkey" => tcp_target(&url),
        "unix" | "redis+unix" | "valkey+unix" => unix_target(&url),
        "rediss" | "valkeys" => {
            Err("TLS is not spoken here; use a tunnel, or the server's plain port".to_owned())
        }
        other => Err(format!("the scheme {other:?} is unknown; {FORMS}")),
    }
}

const FORMS: &str = "write redis://host:port, valkey://user:password@host:port/database or unix:///path";

fn tcp_target(url: &Url) -> Result<Target, String> {
    let host = match url.host() {
        Some(url::Host::Domain(name)) if !name.is_empty() => decoded(name)?,
        Some(url::Host::Ipv4(ip)) => ip.to_string(),
        Some(url::Host::Ipv6(ip)) => ip.to_string(),
        _ => "127.0.0.1".to_owned(),
    };
    let mut target = Target::tcp(host, url.port().unwrap_or(DEFAULT_PORT));
    if !url.username().is_empty() {
        target.user = Some(decoded(url.username())?);
    }
    target.password = url.password().map(decoded).transpose()?;
    if target.user.is_some() && target.password.is_none() {
        return Err("a user needs a password; the default user's is written as :password@".to_owned());
    }
    match url.path().trim_matches('/') {
        "" => {}
        digits => target.database = database(digits)?,
    }
    Ok(target)
}

fn unix_target(url: &Url) -> Result<Target, String> {
    if url.path().is_empty() || url.host_str().is_some_and(|host| !host.is_empty()) {
        return Err("the path of the socket is missing; write unix:///path".to_owned());
    }
    let mut target = Target::unix(decoded(url.path())?);
    for (key, value) in url.query_pairs() {
        match key.as_ref() {
            "db" => target.database = database(&value)?,
            "user" => target.user = Some(value.into_owned()),
            "pass" => target.password = Some(value.into_owned()),
            other => return Err(format!("the option {other:?} is unknown; db, user and pass are known")),
        }
    }
    Ok(target)
}

fn database(digits: &str) -> Result<u32, String> {
    digits.parse().map_err(|_| format!("the database {digits:?} is not a number"))
}

fn decoded(text: &str) -> Result<String, String> {
    let bytes = percent_decode_str(text).decode_utf8();
    bytes.map(|text| text.into_owned()).map_err(|_| format!("{text:?} is not UTF-8"))
}

/// Without the login, for it goes into messages and logs.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.address {
            Address::Tcp { host, port } if host.contains(':') => write!(f, "redis://[{host}]:{port}")?,
            Address::Tcp { host, port } => write!(f, "redis://{host}:{port}")?,
            Address::Unix(path) => write!(f, "unix://{}", path.display())?,
        }
        match (&self.address, self.database) {
            (_, 0) => Ok(()),
            (Address::Tcp { .. }, database) => write!(f, "/{database}"),
            (Address::Unix(_), database) => write!(f, "?db={database}"),
        }
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, shown: &str, login: (Option<&str>, Option<&str>)) {
        let target: Target = text.parse().unwrap();
        assert_eq!(target.to_string(), shown);
        assert_eq!((target.user.as_deref(), target.password.as_deref()), login);
    }

    #[track_caller]
    fn check_refused(text: &str, expected: &str) {
        let error = text.parse::<Target>().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn reads_every_form() {
        check("redis://localhost", "redis://localhost:6379", (None, None));
        check("redis://", "redis://127.0.0.1:6379", (None, None));
        check("valkey://10.0.0.7:7000/3", "redis://10.0.0.7:7000/3", (None, None));
        check("redis://[::1]:7000/", "redis://[::1]:7000", (None, None));
        check("redis://:s%40cret@h:1", "redis://h:1", (None, Some("s@cret")));
        check("redis://ann:p@h:1/2", "redis://h:1/2", (Some("ann"), Some("p")));
        check("/run/valkey.sock", "unix:///run/valkey.sock", (None, None));
        check("./s", "unix://./s", (None, None));
        check("unix:///run/a%20b", "unix:///run/a b", (None, None));
        check("unix:/run/v?db=4&user=ann&pass=p", "unix:///run/v?db=4", (Some("ann"), Some("p")));
        check("valkey+unix:///run/v", "unix:///run/v", (None, None));
    }

    #[test]
    fn says_what_is_wrong() {
        check_refused("engin", "of a server: write redis://host:port");
        check_refused("localhost:6379", "scheme \"localhost\" is unknown");
        check_refused("rediss://h", "TLS is not spoken here");
        check_refused("redis://h/x", "the database \"x\" is not a number");
        check_refused("redis://h:99999", "invalid port number");
        check_refused("redis://ann@h", "a user needs a password");
        check_refused("unix://", "path of the socket is missing");
        check_refused("unix:///s?dbb=1", "option \"dbb\" is unknown");
    }

    #[test]
    fn keeps_passwords_out_of_messages() {
        let target: Target = "redis://ann:hush@h".parse().unwrap();
        assert!(!format!("{target} {target:?}").contains("hush"));
        let error = "redis://ann:hush@h:99999".parse::<Target>().unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hush"), "{error:?}");
    }
}
