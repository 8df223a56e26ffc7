//! One readout in an open page, worked by mouse and by keyboard as a reader would.

use anyhow::{Context as _, Result, bail, ensure};
use echomq_widget::session::shown::Said;
use serde_json::Value;
use thirtyfour::prelude::*;

use crate::browser::Page;

/// More stops than any element has.
const MANY_TABS: usize = 80;

/// What a control is called: its accessible name, as far as the elements use it.
const NAME: &str = "const words = (node) => [...node.childNodes].flatMap((child) => child.nodeType === 3 ? [child.data.trim()] \
                    : child.getAttribute?.('aria-hidden') === 'true' ? [] : words(child)); \
                    const name = (node) => (node.getAttribute('aria-label') \
                    ?? words(node.labels?.[0] ?? node).join(' ')).replace(/\\s+/g, ' ').replace(/ :/g, ':').trim();";

const FOCUSED: &str = "let focused = document.activeElement; \
                       while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;";

#[derive(Debug)]
pub struct Element<'p> {
    page: &'p Page,
    tag: &'static str,
}

impl Page {
    /// Keeps every event of the elements from now on.
    pub async fn listen(&self) -> Result<()> {
        let keep = "event => heard.push([event.type, event.target.localName, event.detail])";
        let listen = format!("['emq:verdict', 'emq:step'].forEach(type => addEventListener(type, {keep}))");
        self.eval(&format!("(window.heard = [], {listen})")).await.map(drop)
    }

    /// The first element of that tag, once it is live.
    pub async fn element(&self, tag: &'static str) -> Result<Element<'_>> {
        let element = Element { page: self, tag };
        self.eval(&format!("document.querySelector('{tag}').scrollIntoView()")).await?;
        self.wait_for_text(&element.script("root?.querySelector('[part=bar]') ? 'live' : ''")).await?;
        Ok(element)
    }
}

impl Element<'_> {
    /// The details of the events of one type that the page has heard from the element since [`Page::listen`].
    pub async fn heard(&self, event: &str) -> Result<Value> {
        let of = format!("type === '{event}' && tag === '{}'", self.tag);
        self.page.eval(&format!("heard.filter(([type, tag]) => {of}).map(([, , detail]) => detail)")).await
    }

    /// An expression in which `host` is the element and `root` its shadow root.
    fn script(&self, expression: &str) -> String {
        format!(
            "(() => {{ {NAME} {FOCUSED} const host = document.querySelector('{}'); const root = host.shadowRoot; \
             return {expression}; }})()",
            self.tag
        )
    }

    pub async fn eval(&self, expression: &str) -> Result<Value> {
        self.page.eval(&self.script(expression)).await
    }

    /// The text of one part.
    pub async fn text(&self, part: &str) -> Result<String> {
        let text = self.eval(&format!("root.querySelector('[part~={part}]')?.textContent ?? ''")).await?;
        Ok(text.as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// Clicks the control of that name with the mouse.
    pub async fn click(&self, name: &str) -> Result<()> {
        self.control(name).await?.click().await.with_context(|| format!("{name} cannot be clicked"))
    }

    /// Clicks the last of several controls of that name.
    pub async fn click_last(&self, name: &str) -> Result<()> {
        let control = self.find("findLast", name).await?;
        control.click().await.with_context(|| format!("{name} cannot be clicked"))
    }

    /// Empties the field of that name and types into it.
    pub async fn fill(&self, name: &str, text: &str) -> Result<()> {
        let field = self.control(name).await?;
        field.click().await?;
        field.send_keys(Key::Control + "a").await?;
        field.send_keys(text).await?;
        Ok(())
    }

    async fn control(&self, name: &str) -> Result<WebElement> {
        self.find("find", name).await
    }

    async fn find(&self, how: &str, name: &str) -> Result<WebElement> {
        let find = format!(
            "[...root.querySelectorAll('button, input, summary')].{how}((node) => name(node) === {})",
            Value::from(name)
        );
        let found = self.page.driver.execute(format!("return {};", self.script(&find)), vec![]).await?;
        found.element().with_context(|| format!("<{}> has no control {name:?}", self.tag))
    }

    /// Comes from the text before the element and presses Tab until the control of that name has the focus.
    pub async fn tab_to(&self, wanted: &str) -> Result<()> {
        self.eval("(host.previousElementSibling.tabIndex = -1, host.previousElementSibling.focus())").await?;
        let mut seen = Vec::new();
        for _ in 0..MANY_TABS {
            self.press(Key::Tab).await?;
            let name = self.focused().await?;
            if name == wanted {
                return Ok(());
            }
            seen.push(name);
        }
        bail!("Tab does not reach {wanted:?} but {seen:?}")
    }

    /// The name of the control that has the focus.
    pub async fn focused(&self) -> Result<String> {
        let name = self.eval("focused ? name(focused) : ''").await?;
        Ok(name.as_str().unwrap_or_default().to_owned())
    }

    /// Presses one key where the focus is.
    pub async fn press(&self, key: impl Into<char>) -> Result<()> {
        let key: char = key.into();
        let actions = self.page.driver.action_chain().key_down(key).key_up(key);
        actions.perform().await.context("the key cannot be pressed")
    }

    /// Presses a key; the focus must then be on this control.
    pub async fn press_to(&self, key: Key, wanted: &str) -> Result<()> {
        self.press(key.clone()).await?;
        let name = self.focused().await?;
        ensure!(name == wanted, "{key:?} went to {name:?}, not to {wanted:?}");
        Ok(())
    }

    /// The readout must be what a session answered.
    pub async fn check(&self, expected: &Said) -> Result<()> {
        let part =
            |name: &str| format!("(root.querySelector('[part=readout] [part={name}]')?.textContent ?? '')");
        let read = format!("[{}, {}, {}]", part("prompt"), part("answer"), part("meaning"));
        let shown: Vec<String> = serde_json::from_value(self.eval(&read).await?)?;
        let Said { prompt, readout, .. } = expected;
        let expected = [&prompt[..], &readout.answer, &readout.meaning];
        ensure!(shown == expected, "<{}> shows\n{shown:#?}\nand not\n{expected:#?}", self.tag);
        Ok(())
    }

    /// Nothing has been pressed: the readout is the first paragraph of the static text.
    pub async fn check_initial(&self) -> Result<()> {
        let squeeze = ".replace(/\\s+/g, ' ').trim()";
        let both = format!(
            "[host.querySelector('p').textContent{squeeze}, root.querySelector('[part=readout]').textContent{squeeze}]"
        );
        let both = self.eval(&both).await?;
        ensure!(both[0] == both[1] && both[0] != "", "<{}> is not at its start: {both:#}", self.tag);
        Ok(())
    }
}
