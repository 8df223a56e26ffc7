//! The built pages, served on a free port of the loopback interface with the policy that they must live under.

use std::{
    net::SocketAddr,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use anyhow::{Context as _, Result, ensure};
use axum::{
    Router,
    http::{
        HeaderValue, StatusCode,
        header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE},
    },
    response::Html,
    routing::get,
};
use tokio::{net::TcpListener, task::JoinHandle};
use tower_http::{services::ServeDir, set_header::SetResponseHeaderLayer};

/// What a strict host sends: no inline script, no other host.
pub const STRICT: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
                          img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'";

/// How a site departs from the built one.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The `Content-Security-Policy` of every answer.
    pub policy: &'static str,
    /// A file of the module that the host has lost.
    pub missing: Option<&'static str>,
    /// The file is missing at the first request only.
    pub comes_back: bool,
    /// A script that the host has besides: its name and its text.
    pub script: Option<(&'static str, &'static str)>,
    /// Whether each page begins with a script that keeps its errors in `recorded`.
    pub recorder: bool,
}

pub const PAGES: [&str; 4] =
    ["index.html", "fencing-token.html", "read-decide-write.html", "rung/index.html"];

/// What a console would show.
const RECORDER: &str = "
const recorded = (window.recorded = []);
addEventListener('error', (event) => recorded.push(event.message ?? `cannot load ${event.target.src ?? event.target.href}`), true);
addEventListener('unhandledrejection', (event) => recorded.push(`${event.reason}`));
addEventListener('securitypolicyviolation', (event) => recorded.push(`policy: ${event.violatedDirective} ${event.blockedURI}`));
for (const level of ['error', 'warn']) {
  const say = console[level];
  console[level] = (...words) => (recorded.push(words.join(' ')), say.apply(console, words));
}";

impl Default for Options {
    fn default() -> Options {
        Options { policy: STRICT, missing: None, comes_back: false, script: None, recorder: false }
    }
}

/// A running site; it stops when it is dropped.
#[derive(Debug)]
pub struct Site {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Site {
    /// # Errors
    /// When the pages have not been built, or no port can be had.
    pub async fn start(options: Options) -> Result<Site> {
        let dist = dist()?;
        let mut router = Router::new().fallback_service(ServeDir::new(&dist));
        let recorder = options.recorder.then_some(("recorder.js", RECORDER));
        for (name, text) in options.script.into_iter().chain(recorder) {
            let script = move || async move { ([(CONTENT_TYPE, "text/javascript")], text) };
            router = router.route(&format!("/{name}"), get(script));
        }
        if options.recorder {
            for page in PAGES {
                let text = std::fs::read_to_string(dist.join(page)).with_context(|| page.to_owned())?;
                let text = text.replacen("<head>", "<head><script src=\"/recorder.js\"></script>", 1);
                router = router.route(&format!("/{page}"), get(|| async { Html(text) }));
            }
        }
        if let Some(file) = options.missing {
            let lost = Arc::new(AtomicBool::new(true));
            let found = std::fs::read(dist.join(file)).with_context(|| file.to_owned())?;
            let answer = move || async move {
                let found = ([(CONTENT_TYPE, "application/wasm")], found);
                if lost.swap(!options.comes_back, Ordering::Relaxed) {
                    Err(StatusCode::NOT_FOUND)
                } else {
                    Ok(found)
                }
            };
            router = router.route(&format!("/{file}"), get(answer));
        }
        let policy = HeaderValue::from_static(options.policy);
        let router = router.layer(SetResponseHeaderLayer::overriding(CONTENT_SECURITY_POLICY, policy));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.context("no port on 127.0.0.1")?;
        let address = listener.local_addr()?;
        let task = tokio::spawn(async move {
            // The server runs until its task is aborted; an error ends the test by what the browser then misses.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Site { address, task })
    }

    /// `http://127.0.0.1:port/`
    pub fn origin(&self) -> String {
        format!("http://{}/", self.address)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The folder with the built pages.
///
/// # Errors
/// When there is none: a test of the pages does not pass without pages.
pub fn dist() -> Result<PathBuf> {
    let dist = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../dist"));
    let built = PAGES.iter().chain(&["echomq-widget_bg.wasm"]).all(|file| dist.join(file).is_file());
    ensure!(built, "the pages are not built: run `cargo xtask test --only page`, then this test again");
    Ok(dist)
}
