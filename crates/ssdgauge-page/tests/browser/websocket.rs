//! The client's half of a WebSocket (RFC 6455) of text messages, without encryption, to a program on this machine.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// A message larger than this means that something is wrong: a picture of a page has a few megabytes.
const MAX_BYTES: u64 = 1 << 28;

/// The mask keeps proxies from taking a frame for a request. There is none here, so any will do.
const MASK: [u8; 4] = *b"mask";

const CONTINUATION: u8 = 0;
const TEXT: u8 = 1;
const PING: u8 = 9;
const PONG: u8 = 10;

pub(crate) struct WebSocket {
    stream: BufReader<TcpStream>,
}

impl WebSocket {
    /// Connects to `path` of `host`, a name with a port.
    pub(crate) fn connect(host: &str, path: &str) -> WebSocket {
        let mut stream = TcpStream::connect(host).unwrap();
        // The key only shows that the server speaks this protocol: its answer is not checked.
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: c3NkZ2F1Z2UgdGVzdHMhIQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut stream = BufReader::new(stream);
        let mut answer = String::new();
        while !answer.ends_with("\r\n\r\n") {
            assert_ne!(stream.read_line(&mut answer).unwrap(), 0, "the server closed: {answer}");
        }
        assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
        WebSocket { stream }
    }

    pub(crate) fn send(&mut self, text: &str) {
        self.send_frame(TEXT, text.as_bytes());
    }

    /// Sends one frame, masked as a client has to. Firefox refuses a mask of zeros.
    fn send_frame(&mut self, kind: u8, bytes: &[u8]) {
        let mut frame = vec![0x80 | kind];
        match bytes.len() {
            short @ ..126 => frame.push(0x80 | short as u8),
            length @ ..65_536 => {
                frame.push(0x80 | 126);
                frame.extend((length as u16).to_be_bytes());
            }
            length => {
                frame.push(0x80 | 127);
                frame.extend((length as u64).to_be_bytes());
            }
        }
        frame.extend(MASK);
        frame.extend(bytes.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask));
        self.stream.get_mut().write_all(&frame).unwrap();
    }

    /// Waits for the next message and returns its text.
    pub(crate) fn receive(&mut self) -> String {
        let mut text = Vec::new();
        loop {
            let (is_last, kind, bytes) = self.frame();
            match kind {
                TEXT | CONTINUATION => text.extend(bytes),
                PING => self.send_frame(PONG, &bytes),
                PONG => {}
                other => panic!("the browser sent a frame of kind {other}: {bytes:?}"),
            }
            if is_last && matches!(kind, TEXT | CONTINUATION) {
                return String::from_utf8(text).unwrap();
            }
        }
    }

    fn number<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.stream.read_exact(&mut bytes).expect("the browser went away");
        bytes
    }

    fn frame(&mut self) -> (bool, u8, Vec<u8>) {
        let [first, second] = self.number();
        assert_eq!(second & 0x80, 0, "a server masks nothing");
        let length = match second {
            126 => u64::from(u16::from_be_bytes(self.number())),
            127 => u64::from_be_bytes(self.number()),
            short => u64::from(short),
        };
        assert!(length <= MAX_BYTES, "a frame of {length} bytes");
        let mut bytes = vec![0; length as usize];
        self.stream.read_exact(&mut bytes).expect("the browser went away");
        (first & 0x80 != 0, first & 0x0f, bytes)
    }
}
