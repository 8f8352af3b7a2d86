//! A server of one text over HTTP/1.1, on the loopback interface only.
//!
//! It is our own: one path, one answer, a thread for each of a few connections, which a library with routes and
//! bodies would make larger and not safer. A request has a limit of size and of time, and names this machine: a page
//! of another site whose name leads here (DNS rebinding) gets nothing.

use ssdgauge_export::Exposition;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The maximum number of bytes of the head of a request.
const LONGEST_HEAD: usize = 8 << 10;
/// The time for a request and its answer.
const LIMIT: Duration = Duration::from_secs(2);
/// Connections at a time; a further one takes the place of the oldest without a request. Programs open some ahead
/// of their requests.
const MOST: usize = 32;

/// A server of a text that changes. When it is dropped, it answers the connection in progress and ends.
#[derive(Debug)]
pub struct MetricsServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    address: SocketAddr,
    texts: Mutex<Texts>,
    ends: AtomicBool,
}

/// The text in each format.
#[derive(Debug)]
struct Texts {
    openmetrics: String,
    prometheus: String,
}

impl Texts {
    fn new(text: impl Fn(Exposition) -> String) -> Texts {
        let openmetrics = text(Exposition::OpenMetrics);
        Texts { openmetrics, prometheus: text(Exposition::Prometheus) }
    }

    fn of(&self, format: Exposition) -> &str {
        match format {
            Exposition::OpenMetrics => &self.openmetrics,
            Exposition::Prometheus => &self.prometheus,
        }
    }
}

impl MetricsServer {
    /// Listens on `address`, where `text` is served at `/metrics`.
    ///
    /// # Errors
    ///
    /// The address is taken, or is none of this machine.
    pub fn start(
        address: SocketAddr,
        text: impl Fn(Exposition) -> String,
    ) -> io::Result<MetricsServer> {
        debug_assert!(address.ip().is_loopback(), "the arguments permit no other address");
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let (texts, ends) = (Mutex::new(Texts::new(text)), AtomicBool::new(false));
        let shared = Arc::new(Shared { address, texts, ends });
        let served = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("metrics".to_owned())
            .spawn(move || serve(&listener, &served))?;
        Ok(MetricsServer { address, shared, thread: Some(thread) })
    }

    /// Returns the address; its port is the one that was given or found free.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Replaces the text.
    pub fn set(&self, text: impl Fn(Exposition) -> String) {
        *self.shared.texts.lock().unwrap_or_else(PoisonError::into_inner) = Texts::new(text);
    }
}

impl Drop for MetricsServer {
    fn drop(&mut self) {
        self.shared.ends.store(true, Ordering::Release);
        // The thread waits for a connection. Where none can be made, it ends with the process.
        if TcpStream::connect_timeout(&self.address, LIMIT).is_ok() {
            let _ = self.thread.take().map(JoinHandle::join);
        }
    }
}

/// The place of a connection.
#[derive(Debug)]
struct Place {
    connection: TcpStream,
    /// Whether its request has arrived.
    has_request: AtomicBool,
}

fn serve(listener: &TcpListener, shared: &Shared) {
    let mut until = None;
    // In the order of their arrival; a thread that has ended has dropped its place.
    let mut places: Vec<Arc<Place>> = Vec::new();
    // Its end waits for the answers in progress.
    std::thread::scope(|scope| {
        for connection in listener.incoming() {
            let ends = shared.ends.load(Ordering::Acquire);
            places.retain(|place| Arc::strong_count(place) > 1);
            match connection {
                Ok(connection) if places.len() < MOST || dismiss_oldest(&mut places) => {
                    let place = Arc::new(Place { connection, has_request: AtomicBool::new(false) });
                    places.push(Arc::clone(&place));
                    scope.spawn(move || {
                        // A client that has gone needs no answer. The place outlives this thread.
                        let _ = answer(&place, shared);
                        let _ = place.connection.shutdown(Shutdown::Both);
                    });
                }
                Ok(_) => {}
                Err(_) if ends => return,
                Err(_) => {}
            }
            // Connections that were made before the end are answered, as far as the time suffices.
            if ends {
                let until = *until.get_or_insert_with(|| Instant::now() + LIMIT);
                if listener.set_nonblocking(true).is_err() || Instant::now() >= until {
                    return;
                }
            }
        }
    });
}

/// Closes the oldest connection without a request; returns whether there is one.
fn dismiss_oldest(places: &mut Vec<Arc<Place>>) -> bool {
    let is_silent = |place: &Arc<Place>| !place.has_request.load(Ordering::Acquire);
    let Some(oldest) = places.iter().position(is_silent) else { return false };
    // Its thread waits for bytes, and ends. It fails where the client has gone.
    let _ = places.remove(oldest).connection.shutdown(Shutdown::Both);
    true
}

/// Reads a request and answers it.
fn answer(place: &Place, shared: &Shared) -> io::Result<()> {
    let until = Instant::now() + LIMIT;
    let connection = &place.connection;
    let Some(head) = read_head(connection, until, &shared.ends)? else { return Ok(()) };
    place.has_request.store(true, Ordering::Release);
    let line = head.lines().next().unwrap_or_default();
    let mut words = line.split(' ');
    let (method, path, version) = (words.next(), words.next(), words.next());
    let path = path.and_then(|path| path.split('?').next());
    let plain = "text/plain; charset=utf-8";
    let (status, kind, body) = match (method, path) {
        _ if version.is_none_or(|version| !version.starts_with("HTTP/1.")) => {
            ("400 Bad Request", plain, "this is not a request of HTTP/1.1\n".to_owned())
        }
        _ if !names_this_machine(&head, shared.address) => {
            let text = "the Host of the request is not this machine: use localhost or 127.0.0.1\n";
            ("403 Forbidden", plain, text.to_owned())
        }
        (Some("GET" | "HEAD"), Some("/metrics")) => {
            let format = Exposition::accepted(&accept(&head));
            let texts = shared.texts.lock().unwrap_or_else(PoisonError::into_inner);
            ("200 OK", format.content_type(), texts.of(format).to_owned())
        }
        (Some("GET" | "HEAD"), _) => {
            ("404 Not Found", plain, "the metrics are at /metrics\n".to_owned())
        }
        _ => ("405 Method Not Allowed", plain, "only GET and HEAD are answered\n".to_owned()),
    };
    let length = body.len();
    let body = if method == Some("HEAD") { "" } else { &body };
    let allow = if status.starts_with("405") { "Allow: GET, HEAD\r\n" } else { "" };
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{allow}\
         Vary: Accept\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n{body}"
    );
    write_before(connection, answer.as_bytes(), until)
}

/// Writes `bytes` before `until`: a client that takes them one by one has no more time than another.
fn write_before(mut connection: &TcpStream, mut bytes: &[u8], until: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        connection.set_write_timeout(Some(left))?;
        match connection.write(bytes)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            written => bytes = &bytes[written..],
        }
    }
    Ok(())
}

/// Returns whether each header `Host` of `head` is a name of the loopback interface or the address `own`; a request
/// without one is not from a browser. Its port may be that of a tunnel.
fn names_this_machine(head: &str, own: SocketAddr) -> bool {
    let hosts = head.lines().skip(1).filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.trim_end().eq_ignore_ascii_case("host").then(|| value.trim())
    });
    let is_here = |host: &str| {
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split_once(']').map_or("", |(name, _)| name),
            None => host.split_once(':').map_or(host, |(name, _)| name),
        };
        let name = name.strip_suffix('.').unwrap_or(name);
        match name.parse::<IpAddr>() {
            Ok(address) => address.is_loopback() || address == own.ip(),
            Err(_) => name.eq_ignore_ascii_case("localhost"),
        }
    };
    hosts.into_iter().all(is_here)
}

/// Returns the media types that a request with this head accepts; empty where it names none.
fn accept(head: &str) -> String {
    let fields = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    let values = fields.filter(|(name, _)| name.eq_ignore_ascii_case("accept"));
    values.map(|(_, value)| value.trim()).collect::<Vec<_>>().join(",")
}

/// Reads the head of a request before `until`; `None` where the client closes the connection, sends too
/// much or nothing in time, or the server `ends`.
fn read_head(
    mut connection: &TcpStream,
    until: Instant,
    ends: &AtomicBool,
) -> io::Result<Option<String>> {
    const PART: Duration = Duration::from_millis(100);
    let mut head = Vec::new();
    let mut part = [0; 1 << 10];
    connection.set_read_timeout(Some(PART))?;
    loop {
        match connection.read(&mut part) {
            Ok(0) => return Ok(None),
            Ok(read) => head.extend_from_slice(&part[..read]),
            Err(error) if is_timeout(&error) => {
                // A connection without a request does not delay the end.
                if head.is_empty() && ends.load(Ordering::Acquire) {
                    return Ok(None);
                }
            }
            Err(error) => return Err(error),
        }
        if head.windows(4).any(|four| four == b"\r\n\r\n") {
            return Ok(Some(String::from_utf8_lossy(&head).into_owned()));
        }
        if head.len() > LONGEST_HEAD || Instant::now() >= until {
            return Ok(None);
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(address: SocketAddr, request: &str) -> String {
        let mut connection = TcpStream::connect(address).unwrap();
        connection.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn one_path_is_answered_and_everything_else_is_refused() {
        let free = SocketAddr::from(([127, 0, 0, 1], 0));
        let server = MetricsServer::start(free, |_| "first\n".to_owned()).unwrap();
        let address = server.address();
        server.set(|_| "# EOF\n".to_owned());
        for (request, status, body) in [
            ("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", "200 OK", "\r\n\r\n# EOF\n"),
            ("GET /metrics HTTP/1.1\r\nHOST : LocalHost.:99\r\n\r\n", "200 OK", "# EOF\n"),
            ("GET /metrics HTTP/1.1\r\nhost: 127.0.0.2:9\r\n\r\n", "200 OK", "# EOF\n"),
            ("GET /metrics HTTP/1.1\r\nHost: [::1]:9\r\n\r\n", "200 OK", "# EOF\n"),
            ("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n", "403 Forbidden", "127.0.0.1\n"),
            (
                "GET /metrics HTTP/1.1\r\nHost: localhost.a.com\r\n\r\n",
                "403 Forbidden",
                "127.0.0.1\n",
            ),
            (
                "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1.a.com:80\r\n\r\n",
                "403 Forbidden",
                "127.0.0.1\n",
            ),
            (
                "GET /metrics HTTP/1.1\r\nHost: localhost\r\nHost: a\r\n\r\n",
                "403 Forbidden",
                "127.0.0.1\n",
            ),
            ("GET / HTTP/1.1\r\nHost: 192.168.0.1\r\n\r\n", "403 Forbidden", "127.0.0.1\n"),
            ("GET /metrics HTTP/1.1\r\nHost:\r\n\r\n", "403 Forbidden", "127.0.0.1\n"),
            ("HEAD /metrics HTTP/1.1\r\n\r\n", "200 OK", "Connection: close\r\n\r\n"),
            ("GET /metrics?a=b HTTP/1.0\r\n\r\n", "200 OK", "# EOF\n"),
            ("GET / HTTP/1.1\r\n\r\n", "404 Not Found", "/metrics\n"),
            ("POST /metrics HTTP/1.1\r\n\r\n", "405 Method Not Allowed", "answered\n"),
            ("nonsense\r\n\r\n", "400 Bad Request", "HTTP/1.1\n"),
        ] {
            let answer = asked(address, request);
            assert!(answer.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{request}: {answer}");
            assert!(answer.ends_with(body), "{request}: {answer}");
        }
        let long = format!("GET /{} HTTP/1.1\r\n", "a".repeat(2 * LONGEST_HEAD));
        let mut connection = TcpStream::connect(address).unwrap();
        connection.write_all(long.as_bytes()).unwrap();
        let mut answer = Vec::new();
        // The connection is closed, or reset because more was sent than was read.
        let _ = connection.read_to_end(&mut answer);
        assert!(answer.is_empty());
    }

    #[test]
    fn connections_without_a_request_delay_no_other_one_and_have_a_limit() {
        let free = SocketAddr::from(([127, 0, 0, 1], 0));
        let server = MetricsServer::start(free, |_| "# EOF\n".to_owned()).unwrap();
        let address = server.address();
        let silent: Vec<TcpStream> =
            (0..MOST - 1).map(|_| TcpStream::connect(address).unwrap()).collect();
        assert!(asked(address, "GET /metrics HTTP/1.1\r\n\r\n").ends_with("# EOF\n"));
        // Each of them is closed without an answer when its time is over.
        for mut one in silent {
            let mut nothing = Vec::new();
            let _ = one.read_to_end(&mut nothing);
            assert!(nothing.is_empty());
        }
    }

    #[test]
    fn connections_without_a_request_keep_no_other_one_out() {
        let free = SocketAddr::from(([127, 0, 0, 1], 0));
        let server = MetricsServer::start(free, |_| "# EOF\n".to_owned()).unwrap();
        let address = server.address();
        // Many times more than there are places, all of them open at the end.
        let mut silent: Vec<TcpStream> = Vec::new();
        for turn in 0..4 {
            silent.extend((0..MOST).map(|_| TcpStream::connect(address).unwrap()));
            let answer = asked(address, "GET /metrics HTTP/1.1\r\n\r\n");
            assert!(answer.ends_with("# EOF\n"), "{turn}: {answer}");
        }
    }

    #[test]
    fn a_request_that_arrives_before_the_end_is_answered_and_then_none_is_accepted() {
        let free = SocketAddr::from(([127, 0, 0, 1], 0));
        let server = MetricsServer::start(free, |_| "# EOF\n".to_owned()).unwrap();
        let address = server.address();
        let mut silent = TcpStream::connect(address).unwrap();
        let mut early = TcpStream::connect(address).unwrap();
        early.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
        // The server waits for the silent connection first; its end does not wait for it.
        drop(server);
        let mut answer = String::new();
        early.read_to_string(&mut answer).unwrap();
        assert!(answer.ends_with("# EOF\n"), "{answer}");
        let mut nothing = Vec::new();
        let _ = silent.read_to_end(&mut nothing);
        assert!(nothing.is_empty());
        assert!(TcpStream::connect(address).is_err());
    }
}
