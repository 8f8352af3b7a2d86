//! Power and heat: energy is what the operations took, temperature follows from it.
//!
//! It must never invent energy: what the power readings add up to is what the work took, plus the
//! floor of the states that the drive was in.

use crate::drive::Work;
use crate::flash::Moment;
use crate::profile::{PowerFigures, PowerState, ThermalFigures};
use ssdgauge_core::PowerSaving;

/// The drive never becomes slower than this many steps make it.
const MOST_THROTTLE_STEPS: u32 = 6;

/// Power and heat of the drive.
#[derive(Clone, Debug)]
pub(crate) struct Environment {
    power: PowerFigures,
    thermal: ThermalFigures,
    now: Moment,
    work: Work,
    body_c: f64,
    /// How many steps the drive is slowed down by; 0 is full speed.
    throttle_steps: u32,
    /// Energy since birth, in joules.
    energy_j: f64,
    /// Whether the drive falls into states of less power by itself.
    saves: bool,
    /// The state that it was told to be in, until work wakes it.
    held: Option<Held>,
}

/// A state that the drive was told to be in.
#[derive(Clone, Debug)]
struct Held {
    state: PowerState,
    /// When it was told so; it is in the state once it has entered it.
    since: Moment,
    /// When work woke it.
    woken: Option<Moment>,
}

/// What a stretch of time did to the drive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EnvironmentSecond {
    pub(crate) power_w: f64,
    pub(crate) body_c: f64,
    pub(crate) junction_c: f64,
    pub(crate) throttled: bool,
}

impl Environment {
    pub(crate) fn new(power: &PowerFigures, thermal: &ThermalFigures) -> Environment {
        let idle_c = thermal.ambient_c + thermal.r_c_per_w * power.idle_w;
        Environment {
            power: power.clone(),
            thermal: thermal.clone(),
            now: 0,
            work: Work::default(),
            body_c: idle_c,
            throttle_steps: 0,
            energy_j: 0.0,
            saves: true,
            held: None,
        }
    }

    /// Chooses how much power the drive may save; returns whether it can. State 0 is awake, the
    /// others are those of the profile, the lightest first.
    pub(crate) fn choose(&mut self, saving: PowerSaving) -> bool {
        let state = |number: u8| self.power.states.get(usize::from(number).checked_sub(1)?);
        let (saves, held) = match saving {
            PowerSaving::AsFound | PowerSaving::Low => (true, None),
            PowerSaving::Active | PowerSaving::State(0) => (false, None),
            PowerSaving::State(number) => match state(number) {
                Some(state) => (false, Some(state.clone())),
                None => return false,
            },
        };
        self.saves = saves;
        self.held = held.map(|state| Held { state, since: self.now, woken: None });
        true
    }

    /// Returns the states that the drive falls into, the lightest first.
    fn states(&self) -> &[PowerState] {
        if self.saves { &self.power.states } else { &[] }
    }

    /// Returns the speed of the drive as a share of its full speed.
    pub(crate) fn factor(&self) -> f64 {
        self.thermal.factor.powi(self.throttle_steps as i32)
    }

    /// Goes on with a drive that has done no work yet; returns its speed.
    pub(crate) fn begin_anew(&mut self) -> f64 {
        self.work = Work::default();
        self.factor()
    }

    /// Returns the temperature of the body, in degrees Celsius.
    pub(crate) fn body_c(&self) -> f64 {
        self.body_c
    }

    /// Returns the energy since birth, in joules.
    pub(crate) fn energy_j(&self) -> f64 {
        self.energy_j
    }

    /// Goes on to `now`: the drive has done `work` in all and was busy until `busy_until`.
    pub(crate) fn pass(
        &mut self,
        now: Moment,
        work: &Work,
        busy_until: Moment,
    ) -> EnvironmentSecond {
        let seconds = now.saturating_sub(self.now) as f64 / 1e9;
        let dynamic = energy_of(work, &self.power) - energy_of(&self.work, &self.power);
        let energy = dynamic + self.floor_energy(now, busy_until);
        // Work has woken it: from now on it stays awake.
        self.held.take_if(|held| held.woken.is_some());
        let power_w = if seconds > 0.0 { energy / seconds } else { 0.0 };
        self.energy_j += energy;
        self.heat(power_w, seconds);
        self.now = self.now.max(now);
        self.work = *work;
        EnvironmentSecond {
            power_w,
            body_c: self.body_c,
            junction_c: self.body_c + self.thermal.junction_c_per_w * power_w,
            throttled: self.throttle_steps > 0,
        }
    }

    /// The exact solution of C dT/dt = P − (T − ambient) / R over `seconds` of constant power.
    fn heat(&mut self, power_w: f64, seconds: f64) {
        let thermal = &self.thermal;
        let end = thermal.ambient_c + thermal.r_c_per_w * power_w;
        let time = thermal.r_c_per_w * thermal.c_j_per_c;
        let decay = if time > 0.0 { (-seconds / time).exp() } else { 0.0 };
        let before = self.body_c;
        self.body_c = end + (self.body_c - end) * decay;
        // Where one step down does not cool the drive, another follows.
        let hot = self.body_c >= thermal.throttle_c;
        if self.body_c <= thermal.resume_c {
            self.throttle_steps = 0;
        } else if hot && (self.throttle_steps == 0 || self.body_c > before) {
            self.throttle_steps = (self.throttle_steps + 1).min(MOST_THROTTLE_STEPS);
        }
    }

    /// Returns the energy of the idle floor from the last moment to `now`, in joules.
    fn floor_energy(&self, now: Moment, busy_until: Moment) -> f64 {
        if let Some(Held { state, since, woken }) = &self.held {
            let entered = (since + ns(state.entry_us)).clamp(self.now, now.max(self.now));
            let left = woken.unwrap_or(now).clamp(entered, now.max(entered));
            let asleep = (left - entered) as f64 / 1e9;
            let awake = now.saturating_sub(self.now) as f64 / 1e9 - asleep;
            return self.power.idle_w * awake + state.w * asleep;
        }
        let mut energy = 0.0;
        let mut from = self.now;
        let mut w = self.power.idle_w;
        for state in self.states() {
            let entered = busy_until + ns(state.after_ms * 1e3 + state.entry_us);
            let to = entered.clamp(from, now.max(from));
            energy += w * (to - from) as f64 / 1e9;
            from = to;
            w = state.w;
        }
        energy + w * now.saturating_sub(from) as f64 / 1e9
    }

    /// Wakes the drive for work at `now` after silence from `busy_until` on; returns how long it
    /// takes to wake.
    pub(crate) fn wake_time(&mut self, now: Moment, busy_until: Moment) -> u64 {
        if let Some(Held { state, since, woken: woken @ None }) = &mut self.held {
            *woken = Some(now);
            // A state is entered to its end before it is left.
            let entering = (*since + ns(state.entry_us)).saturating_sub(now);
            return entering + ns(state.exit_us);
        }
        let entered = |after_ms: f64| now > busy_until.saturating_add(ns(after_ms * 1e3));
        let deepest = self.states().iter().rev().find(|state| entered(state.after_ms));
        deepest.map_or(0, |state| ns(state.exit_us))
    }
}

fn ns(us: f64) -> u64 {
    (us * 1e3).round() as u64
}

/// Returns the energy of `work` in joules.
pub(crate) fn energy_of(work: &Work, power: &PowerFigures) -> f64 {
    let flash = &work.flash;
    let nj = work.commands as f64 * power.command_nj
        + work.link_bytes as f64 / 1_024.0 * power.link_nj_per_kib
        + flash.senses as f64 * power.read_nj
        + flash.programs as f64 * power.program_nj
        + flash.slc_programs as f64 * power.slc_program_nj
        + flash.erases as f64 * power.erase_nj;
    nj / 1e9
}
