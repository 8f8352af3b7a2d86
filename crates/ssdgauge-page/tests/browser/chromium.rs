//! A headless Chromium that tests talk to in its own protocol, over two named pipes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
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
    /// What the page complained of, in the console or as an error.
    pub(crate) complaints: Vec<String>,
    /// Every address that the page asked for.
    pub(crate) requests: Vec<String>,
    /// The documents that were loaded, by the identifiers of the browser.
    loaded: Vec<String>,
    _home: tempfile::TempDir,
}

/// Returns whether this machine has the browser and the programs that read what it prints.
pub(crate) fn is_here() -> bool {
    let has = |program: &str| {
        let found = Command::new("which").arg(program).stdout(Stdio::null()).status();
        found.is_ok_and(|status| status.success())
    };
    ["chromium", "pdfinfo", "pdftotext", "mkfifo"].into_iter().all(has)
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
            complaints: Vec::new(),
            requests: Vec::new(),
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
    pub(crate) fn ask(&mut self, method: &str, parameters: Value) -> Value {
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
                self.complaints.push(event.to_string());
            }
            Some("Network.requestWillBeSent") => {
                let address = event["request"]["url"].as_str().unwrap_or_default();
                self.requests.push(address.to_owned());
            }
            Some(_) | None => {}
        }
        message
    }

    /// Gives the window a width, with a height of 900, in light or dark; the page stays loaded.
    pub(crate) fn view(&mut self, width: u32, scheme: &str) {
        let size = json!({
            "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500,
        });
        self.ask("Emulation.setDeviceMetricsOverride", size);
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.ask("Emulation.setEmulatedMedia", media);
    }

    /// Loads the page `file` into a window of `width` by 900, in light or dark.
    pub(crate) fn show(&mut self, file: &Path, width: u32, scheme: &str) {
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

    /// Runs a script in the page; its own policy forbids scripts, but not those of the debugger.
    pub(crate) fn inject(&mut self, script: &str) {
        let answer = self.ask("Runtime.evaluate", json!({ "expression": script }));
        assert!(answer["exceptionDetails"].is_null(), "{}", answer["exceptionDetails"]);
    }

    /// Returns what a function without arguments answers in the page, also one that answers later.
    pub(crate) fn evaluate(&mut self, function: &str) -> Value {
        let expression = format!("({function})()");
        let parameters =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.ask("Runtime.evaluate", parameters);
        assert!(answer["exceptionDetails"].is_null(), "{}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Presses the tabulator key.
    pub(crate) fn tab(&mut self) {
        for kind in ["rawKeyDown", "keyUp"] {
            let key = json!({
                "type": kind, "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9,
            });
            self.ask("Input.dispatchKeyEvent", key);
        }
    }

    /// Takes a picture of the first `height` pixels of the page.
    pub(crate) fn picture(&mut self, file: &Path, width: u32, height: u32) {
        let clip = json!({ "x": 0, "y": 0, "width": width, "height": height, "scale": 1 });
        let parameters = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        let answer = self.ask("Page.captureScreenshot", parameters);
        std::fs::write(file, decoded(answer["data"].as_str().unwrap())).unwrap();
    }

    /// Prints the page on A4.
    pub(crate) fn print(&mut self, file: &Path) {
        let paper = json!({ "paperWidth": 8.27, "paperHeight": 11.69 });
        let answer = self.ask("Page.printToPDF", paper);
        std::fs::write(file, decoded(answer["data"].as_str().unwrap())).unwrap();
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the bytes of `text` in base 64.
fn decoded(text: &str) -> Vec<u8> {
    STANDARD.decode(text).unwrap()
}
