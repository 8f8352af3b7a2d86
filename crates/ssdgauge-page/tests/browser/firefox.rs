//! A headless Firefox that tests talk to in WebDriver BiDi, over a WebSocket.

use crate::browser::websocket::WebSocket;
use crate::browser::window::{Browser, Point, Seen, Vision, decoded, has_programs};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// More events than this for one command mean that something is wrong.
const MAX_MESSAGES: usize = 100_000;

/// How many lines the browser may write before it is ready.
const MAX_LINES: usize = 1_000;

/// As on a phone, where bars to scroll take no width.
const PREFERENCES: &str = "user_pref(\"ui.useOverlayScrollbars\", 1);\n";

/// Draws the body of the page through a matrix of linear RGB: the protocol has no command for it, and a filter of the
/// root element changes nothing.
const FILTER: &str = "function () {
    const matrix = MATRIX;
    document.getElementById('seen-as')?.remove();
    document.body.style.filter = matrix ? 'url(#seen-as-matrix)' : '';
    if (!matrix) return null;
    const create = name => document.createElementNS('http://www.w3.org/2000/svg', name);
    const [svg, filter, step] = ['svg', 'filter', 'feColorMatrix'].map(create);
    svg.id = 'seen-as'; filter.id = 'seen-as-matrix';
    svg.setAttribute('width', '0'); svg.setAttribute('height', '0');
    filter.setAttribute('color-interpolation-filters', 'linearRGB');
    step.setAttribute('values', matrix);
    filter.append(step); svg.append(filter); document.body.append(svg);
    return null }";

/// Returns the matrix of `vision`: Machado, Oliveira and Fernandes 2009, severity 1.0, and for no colour the luminance
/// of IEC 61966-2-1; `None` for normal vision.
fn matrix(vision: Vision) -> Option<&'static str> {
    match vision {
        Vision::Normal => None,
        Vision::Protanopia => Some(
            "0.152286 1.052583 -0.204868 0 0  0.114503 0.786281 0.099216 0 0 \
             -0.003882 -0.048116 1.051998 0 0  0 0 0 1 0",
        ),
        Vision::Deuteranopia => Some(
            "0.367322 0.860646 -0.227968 0 0  0.280085 0.672501 0.047413 0 0 \
             -0.011820 0.042940 0.968881 0 0  0 0 0 1 0",
        ),
        Vision::Tritanopia => Some(
            "1.255528 -0.076749 -0.178779 0 0  -0.078411 0.930809 0.147602 0 0 \
             0.004733 0.691367 0.303900 0 0  0 0 0 1 0",
        ),
        Vision::Achromatopsia => Some(
            "0.2126 0.7152 0.0722 0 0  0.2126 0.7152 0.0722 0 0 \
             0.2126 0.7152 0.0722 0 0  0 0 0 1 0",
        ),
    }
}

/// A browser with one empty page.
pub(crate) struct Firefox {
    child: Child,
    socket: WebSocket,
    number: u64,
    /// The tab, and the window of the browser around it, which sets what the tab prefers.
    tab: String,
    window: String,
    seen: Seen,
    _home: tempfile::TempDir,
}

/// Returns whether this machine has the browser, and the program that ends it with its test.
pub(crate) fn is_here() -> bool {
    has_programs(&["firefox-esr", "setpriv", "pdfinfo", "pdftotext"])
}

/// Returns the process and the host of its WebSocket.
fn started(home: &Path) -> (Child, String) {
    // The kernel ends the browser with its test, also where the test is killed.
    let mut child = Command::new("setpriv")
        .args(["--pdeathsig", "KILL", "firefox-esr", "--headless", "--no-remote"])
        .args(["--remote-debugging-port=0", "--remote-allow-system-access", "--profile"])
        .arg(home.join("profile"))
        .env("HOME", home)
        .env("MOZ_CRASHREPORTER_DISABLE", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let host = lines.by_ref().take(MAX_LINES).find_map(|line| {
        let line = line.unwrap();
        Some(line.split_once("BiDi listening on ws://")?.1.trim().to_owned())
    });
    // A pipe that nobody reads would stop the browser once it is full.
    std::thread::spawn(move || lines.for_each(drop));
    let host = host.unwrap_or_else(|| {
        let _ = child.kill();
        panic!("Firefox ended before it listened");
    });
    (child, host)
}

impl Firefox {
    /// Starts the browser with an empty page.
    pub(crate) fn start() -> Firefox {
        let home = tempfile::tempdir().unwrap();
        let profile = home.path().join("profile");
        std::fs::create_dir(&profile).unwrap();
        std::fs::write(profile.join("user.js"), PREFERENCES).unwrap();
        let (child, host) = started(home.path());
        let mut firefox = Firefox {
            socket: WebSocket::connect(&host, "/session"),
            child,
            number: 0,
            tab: String::new(),
            window: String::new(),
            seen: Seen::default(),
            _home: home,
        };
        firefox.ask("session.new", json!({ "capabilities": {} }));
        let context = |tree: Value| tree["contexts"][0]["context"].as_str().unwrap().to_owned();
        firefox.tab = context(firefox.ask("browsingContext.getTree", json!({})));
        let chrome = json!({ "moz:scope": "chrome" });
        firefox.window = context(firefox.ask("browsingContext.getTree", chrome));
        let events = json!({ "events": ["log.entryAdded", "network.beforeRequestSent"] });
        firefox.ask("session.subscribe", events);
        firefox
    }

    /// Sends a command and returns its result.
    fn ask(&mut self, method: &str, parameters: Value) -> Value {
        self.number += 1;
        let command = json!({ "id": self.number, "method": method, "params": parameters });
        self.socket.send(&command.to_string());
        for _ in 0..MAX_MESSAGES {
            let message = self.receive();
            if message["id"] == json!(self.number) {
                assert_eq!(message["type"], json!("success"), "{method}: {message}");
                return message["result"].clone();
            }
        }
        panic!("{method} was never answered");
    }

    fn receive(&mut self) -> Value {
        let message: Value = serde_json::from_str(&self.socket.receive()).unwrap();
        let event = &message["params"];
        match message["method"].as_str() {
            Some("log.entryAdded") => self.seen.complaints.push(event.to_string()),
            Some("network.beforeRequestSent") => {
                let address = event["request"]["url"].as_str().unwrap_or_default();
                self.seen.requests.push(address.to_owned());
            }
            Some(_) | None => {}
        }
        message
    }

    /// Runs `script` in the tab or in the window around it and returns what it answers.
    fn run(&mut self, place: &str, script: &str) -> Value {
        let parameters = json!({
            "expression": script, "target": { "context": place }, "awaitPromise": true,
        });
        let answer = self.ask("script.evaluate", parameters);
        assert_eq!(answer["type"], json!("success"), "{}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Runs a statement in the window around the tab.
    fn around(&mut self, statement: &str) {
        let window = self.window.clone();
        self.run(&window, &format!("{statement}; 0"));
    }

    /// Sets a property of what the window makes the tab believe.
    fn pretend(&mut self, property: &str, value: &str) {
        self.around(&format!("gBrowser.selectedBrowser.browsingContext.{property} = {value:?}"));
    }

    fn act(&mut self, kind: &str, actions: Value) {
        let source = json!({ "type": kind, "id": kind, "actions": actions });
        let parameters = json!({ "context": self.tab, "actions": [source] });
        self.ask("input.performActions", parameters);
    }
}

impl Browser for Firefox {
    fn seen(&mut self) -> &mut Seen {
        &mut self.seen
    }

    fn view(&mut self, width: u32, scheme: &str) {
        let size = json!({
            "context": self.tab, "viewport": { "width": width, "height": 900 },
        });
        self.ask("browsingContext.setViewport", size);
        self.pretend("prefersColorSchemeOverride", scheme);
    }

    fn medium(&mut self, medium: &str) {
        self.pretend("mediumOverride", medium);
    }

    fn see_as(&mut self, vision: Vision) {
        let filter = matrix(vision).map_or(json!(null), |matrix| json!(matrix));
        self.evaluate(&FILTER.replace("MATRIX", &filter.to_string()));
    }

    fn has_page_margins(&self) -> bool {
        false
    }

    fn show(&mut self, file: &Path, width: u32, scheme: &str) {
        self.view(width, scheme);
        let address = format!("file://{}", file.display());
        let parameters = json!({ "context": self.tab, "url": address, "wait": "complete" });
        self.ask("browsingContext.navigate", parameters);
        // At first the bar with the address has the focus, and a page without it shows none.
        self.around("gBrowser.selectedBrowser.focus()");
    }

    fn inject(&mut self, script: &str) {
        let tab = self.tab.clone();
        // The last value would be sent with all that it refers to.
        self.run(&tab, &format!("{script}; 0"));
    }

    fn evaluate(&mut self, function: &str) -> Value {
        let tab = self.tab.clone();
        // As text, because the protocol has a notation of its own for objects.
        let script = format!("(async () => JSON.stringify(await ({function})()))()");
        let answer = self.run(&tab, &script);
        answer.as_str().map_or(Value::Null, |text| serde_json::from_str(text).unwrap())
    }

    fn key(&mut self, key: &str) {
        let actions = ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key }));
        self.act("key", json!(actions));
    }

    fn press_and_move(&mut self, path: &[Point], presses: u32) {
        let to = |(x, y): Point| json!({ "type": "pointerMove", "x": x, "y": y, "duration": 0 });
        let button = |kind: &str| json!({ "type": kind, "button": 0 });
        let mut actions = vec![to(path[0])];
        for _ in 0..presses {
            actions.push(button("pointerDown"));
            actions.extend(path[1..].iter().map(|point| to(*point)));
            actions.push(button("pointerUp"));
        }
        self.act("pointer", json!(actions));
    }

    fn picture(&mut self, file: &Path, width: u32, height: u32) {
        let clip = json!({ "type": "box", "x": 0, "y": 0, "width": width, "height": height });
        let parameters = json!({ "context": self.tab, "origin": "document", "clip": clip });
        let answer = self.ask("browsingContext.captureScreenshot", parameters);
        std::fs::write(file, decoded(&answer["data"])).unwrap();
    }

    fn print(&mut self, file: &Path) {
        let paper = json!({ "width": 21.0, "height": 29.7 });
        let parameters = json!({ "context": self.tab, "page": paper, "background": false });
        let answer = self.ask("browsingContext.print", parameters);
        std::fs::write(file, decoded(&answer["data"])).unwrap();
    }
}

impl Drop for Firefox {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
