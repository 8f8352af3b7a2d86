//! A headless Chromium that tests talk to in its own protocol, over two named pipes.

use crate::browser::window::{
    Browser, DOWN, ENTER, Point, Seen, TAB, Vision, decoded, has_programs,
};
use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// More answers and events than this for one command mean that something is wrong.
const MAX_MESSAGES: usize = 100_000;

/// A browser with one empty page.
pub(crate) struct Chromium {
    child: Child,
    commands: File,
    answers: BufReader<File>,
    session: Option<String>,
    number: u64,
    seen: Seen,
    /// The documents that were loaded, by the identifiers of the browser.
    loaded: Vec<String>,
    _home: tempfile::TempDir,
}

/// Returns whether this machine has the browser and the programs that read what it prints.
pub(crate) fn is_here() -> bool {
    has_programs(&["chromium", "pdfinfo", "pdftotext", "mkfifo"])
}

impl Chromium {
    /// Starts the browser with an empty page.
    pub(crate) fn start() -> Chromium {
        let home = tempfile::tempdir().unwrap();
        let pipe = |name: &str| home.path().join(name);
        let (commands, answers) = (pipe("commands"), pipe("answers"));
        assert!(Command::new("mkfifo").args([&commands, &answers]).status().unwrap().success());
        // The protocol wants descriptors 3 and 4; the shell opens them and becomes the browser.
        let line = "exec chromium --headless --no-sandbox --disable-gpu --hide-scrollbars \
                    --no-first-run --disable-dev-shm-usage --disable-background-networking \
                    --user-data-dir=\"$0/profile\" --remote-debugging-pipe \
                    3<\"$0/commands\" 4>\"$0/answers\"";
        let child = Command::new("sh")
            .args(["-c", line])
            .arg(home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // In the order in which the shell opens them: each waits for its other end.
        let commands = OpenOptions::new().write(true).open(commands).unwrap();
        let answers = BufReader::new(File::open(answers).unwrap());
        let mut chromium = Chromium {
            child,
            commands,
            answers,
            session: None,
            number: 0,
            seen: Seen::default(),
            loaded: Vec::new(),
            _home: home,
        };
        let target = chromium.ask("Target.createTarget", json!({ "url": "about:blank" }));
        let id = &target["targetId"];
        let attached =
            chromium.ask("Target.attachToTarget", json!({ "targetId": id, "flatten": true }));
        chromium.session = Some(attached["sessionId"].as_str().unwrap().to_owned());
        for domain in ["Page", "Runtime", "Log", "Network"] {
            chromium.ask(&format!("{domain}.enable"), json!({}));
        }
        chromium.ask("Page.setLifecycleEventsEnabled", json!({ "enabled": true }));
        chromium
    }

    /// Sends a command and returns its result.
    fn ask(&mut self, method: &str, parameters: Value) -> Value {
        self.number += 1;
        let mut command = json!({ "id": self.number, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            command["sessionId"] = json!(session);
        }
        let mut text = command.to_string().into_bytes();
        text.push(0);
        self.commands.write_all(&text).unwrap();
        for _ in 0..MAX_MESSAGES {
            let message = self.receive();
            if message["id"] == json!(self.number) {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
        }
        panic!("{method} was never answered");
    }

    fn receive(&mut self) -> Value {
        let mut text = Vec::new();
        self.answers.read_until(0, &mut text).unwrap();
        assert_eq!(text.pop(), Some(0), "the browser went away");
        let message: Value = serde_json::from_slice(&text).unwrap();
        let event = &message["params"];
        match message["method"].as_str() {
            Some("Page.lifecycleEvent") if event["name"] == "load" => {
                self.loaded.push(event["loaderId"].as_str().unwrap_or_default().to_owned());
            }
            Some("Runtime.exceptionThrown" | "Runtime.consoleAPICalled" | "Log.entryAdded") => {
                self.seen.complaints.push(event.to_string());
            }
            Some("Network.requestWillBeSent") => {
                let address = event["request"]["url"].as_str().unwrap_or_default();
                self.seen.requests.push(address.to_owned());
            }
            Some(_) | None => {}
        }
        message
    }

    fn mouse(&mut self, kind: &str, (x, y): Point, clicks: u32) {
        let event = json!({
            "type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": clicks,
        });
        self.ask("Input.dispatchMouseEvent", event);
    }
}

impl Browser for Chromium {
    fn seen(&mut self) -> &mut Seen {
        &mut self.seen
    }

    fn view(&mut self, width: u32, scheme: &str) {
        let size = json!({
            "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500,
        });
        self.ask("Emulation.setDeviceMetricsOverride", size);
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.ask("Emulation.setEmulatedMedia", media);
    }

    fn medium(&mut self, medium: &str) {
        self.ask("Emulation.setEmulatedMedia", json!({ "media": medium }));
    }

    fn see_as(&mut self, vision: Vision) {
        let kind = match vision {
            Vision::Normal => "none",
            Vision::Protanopia => "protanopia",
            Vision::Deuteranopia => "deuteranopia",
            Vision::Tritanopia => "tritanopia",
            Vision::Achromatopsia => "achromatopsia",
        };
        self.ask("Emulation.setEmulatedVisionDeficiency", json!({ "type": kind }));
    }

    fn has_page_margins(&self) -> bool {
        true
    }

    fn show(&mut self, file: &Path, width: u32, scheme: &str) {
        self.view(width, scheme);
        self.loaded.clear();
        let address = format!("file://{}", file.display());
        let document = self.ask("Page.navigate", json!({ "url": address }))["loaderId"].clone();
        for _ in 0..MAX_MESSAGES {
            // The event of an earlier document may arrive late.
            if self.loaded.iter().any(|loaded| document == json!(loaded)) {
                return;
            }
            self.receive();
        }
        panic!("the page was never loaded");
    }

    fn inject(&mut self, script: &str) {
        let answer = self.ask("Runtime.evaluate", json!({ "expression": script }));
        assert!(answer["exceptionDetails"].is_null(), "{}", answer["exceptionDetails"]);
    }

    fn evaluate(&mut self, function: &str) -> Value {
        let expression = format!("({function})()");
        let parameters =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.ask("Runtime.evaluate", parameters);
        assert!(answer["exceptionDetails"].is_null(), "{}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    fn key(&mut self, key: &str) {
        let (name, number) = match key {
            TAB => ("Tab", 9),
            ENTER => ("Enter", 13),
            DOWN => ("ArrowDown", 40),
            // What it types is part of the event.
            one if one.chars().count() == 1 => {
                for kind in ["keyDown", "keyUp"] {
                    let text = if kind == "keyDown" { one } else { "" };
                    self.ask(
                        "Input.dispatchKeyEvent",
                        json!({ "type": kind, "key": one, "text": text }),
                    );
                }
                return;
            }
            other => panic!("no test presses {other:?}"),
        };
        for kind in ["rawKeyDown", "keyUp"] {
            let event = json!({
                "type": kind, "key": name, "code": name, "windowsVirtualKeyCode": number,
            });
            self.ask("Input.dispatchKeyEvent", event);
        }
    }

    fn press_and_move(&mut self, path: &[Point], presses: u32) {
        for press in 1..=presses {
            self.mouse("mousePressed", path[0], press);
            for point in &path[1..] {
                self.mouse("mouseMoved", *point, press);
            }
            self.mouse("mouseReleased", path[path.len() - 1], press);
        }
    }

    fn picture(&mut self, file: &Path, width: u32, height: u32) {
        let clip = json!({ "x": 0, "y": 0, "width": width, "height": height, "scale": 1 });
        let parameters = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        let answer = self.ask("Page.captureScreenshot", parameters);
        std::fs::write(file, decoded(&answer["data"])).unwrap();
    }

    fn print(&mut self, file: &Path) {
        let paper = json!({ "paperWidth": 8.27, "paperHeight": 11.69 });
        let answer = self.ask("Page.printToPDF", paper);
        std::fs::write(file, decoded(&answer["data"])).unwrap();
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
