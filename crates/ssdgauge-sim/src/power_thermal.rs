//! Power and temperature: energy follows from operations and power states, temperature from energy.
//!
//! It must never invent energy: the power readings add up to the energy of the operations plus that
//! of the power states.

use crate::operations::Work;
use crate::power_limit::PowerLimit;
use crate::profile::{EffectFigures, PowerFigures, PowerState, ThermalFigures};
use crate::time::SimTime;
use ssdgauge_core::{PowerSaving, ThermalReport};

/// The most throttle steps. At the usual factor of 0.6 a twentieth of the speed is left.
const MAX_THROTTLE_STEPS: u32 = 6;

/// Power and temperature of a drive.
#[derive(Clone, Debug)]
pub(crate) struct PowerThermal {
    power: PowerFigures,
    thermal: ThermalFigures,
    /// The stage below the throttle steps, where the drive has one.
    light: Option<LightThrottling>,
    /// The time up to which energy is computed.
    now: SimTime,
    /// The time up to which the temperature is computed: the last sample.
    sampled: SimTime,
    /// Energy since the last sample, in joules.
    since_sample_j: f64,
    /// Operations up to `now`.
    work: Work,
    body_c: f64,
    /// How many steps the drive is slowed down by; 0 is full speed.
    throttle_steps: u32,
    /// How often it began to be throttled, and the seconds for which it was; `None` where it does not count them.
    counted: Option<(u64, f64)>,
    /// Energy since the drive was created, in joules.
    energy_j: f64,
    /// Whether the drive enters power states without a command (NVMe: autonomous power state
    /// transitions).
    autonomous: bool,
    /// The non-operational power state that the host has set, until work wakes the drive.
    set_state: Option<SetState>,
    /// Power while the drive is active and idle in its operational power state, in watts.
    idle_w: f64,
    /// Whether power state 0 has a limit, too.
    is_capped: bool,
    /// The limit of its operational power state; `None` in state 0 without a cap.
    limit: Option<PowerLimit>,
}

/// Light throttling: the first of the two thermal management temperatures of NVMe.
#[derive(Clone, Copy, Debug)]
struct LightThrottling {
    /// The body temperature from which on it is active.
    from_c: f64,
    /// The body temperature at which it ends.
    until_c: f64,
    /// Share of the speed that is left.
    factor: f64,
    is_active: bool,
}

impl LightThrottling {
    /// Returns the stage of a drive, if it has one.
    fn new(thermal: &ThermalFigures, effects: &EffectFigures) -> Option<LightThrottling> {
        let hysteresis = thermal.throttle_c - thermal.resume_c;
        (effects.light_throttle_c > 0.0).then_some(LightThrottling {
            from_c: effects.light_throttle_c,
            until_c: effects.light_throttle_c - hysteresis,
            factor: effects.light_throttle_factor,
            is_active: false,
        })
    }

    fn update(&mut self, body_c: f64) {
        self.is_active = body_c >= self.from_c || (self.is_active && body_c > self.until_c);
    }
}

/// A non-operational power state that the host has set.
#[derive(Clone, Debug)]
struct SetState {
    state: PowerState,
    /// When it was set; entering it takes time from then on.
    since: SimTime,
    /// When work woke the drive.
    woken: Option<SimTime>,
}

/// Power and temperature over a period.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PowerThermalSample {
    /// Mean power of the period, in watts.
    pub(crate) power_w: f64,
    /// Temperature of the body at its end, in degrees Celsius.
    pub(crate) body_c: f64,
    /// Temperature of the controller's junction at its end, in degrees Celsius.
    pub(crate) junction_c: f64,
    /// Whether the drive is throttled at its end.
    pub(crate) throttled: bool,
}

impl PowerThermal {
    /// Returns a drive in thermal equilibrium at its idle power.
    pub(crate) fn new(
        power: &PowerFigures,
        thermal: &ThermalFigures,
        effects: &EffectFigures,
    ) -> PowerThermal {
        let is_capped = effects.power_cap;
        let idle_c = thermal.ambient_c + thermal.r_c_per_w * power.idle_w;
        PowerThermal {
            power: power.clone(),
            thermal: thermal.clone(),
            light: LightThrottling::new(thermal, effects),
            now: 0,
            sampled: 0,
            since_sample_j: 0.0,
            work: Work::default(),
            body_c: idle_c,
            throttle_steps: 0,
            counted: effects.reports_heat.then_some((0, 0.0)),
            energy_j: 0.0,
            autonomous: true,
            set_state: None,
            idle_w: power.idle_w,
            is_capped,
            limit: is_capped.then(|| PowerLimit::new(power.max_w - power.idle_w, 0.0, 0)),
        }
    }

    /// Sets the power saving of the drive; returns whether the drive has the state. State 0 is
    /// operational and unlimited; the limited states follow, then the non-operational ones, the
    /// lightest first.
    pub(crate) fn set_saving(&mut self, saving: PowerSaving) -> bool {
        let limited = self.power.limited_states.len();
        let (autonomous, number) = match saving {
            // The model is found with autonomous transitions, which are how an idle drive saves
            // power.
            PowerSaving::AsFound | PowerSaving::Low => (true, 0),
            PowerSaving::Active => (false, 0),
            PowerSaving::State(number) => (false, usize::from(number)),
        };
        if number > limited {
            let Some(state) = self.power.states.get(number - limited - 1).cloned() else {
                return false;
            };
            // The operational state stays: the drive returns to it when it is woken.
            self.set_state = Some(SetState { state, since: self.now, woken: None });
        } else {
            self.set_state = None;
            self.enter_operational_state(number);
        }
        self.autonomous = autonomous;
        true
    }

    /// Enters operational state `number`, of which 0 has no limit.
    fn enter_operational_state(&mut self, number: usize) {
        let limited = number.checked_sub(1).and_then(|index| self.power.limited_states.get(index));
        let spent_nj = energy_nj(&self.work, &self.power);
        self.idle_w = limited.map_or(self.power.idle_w, |state| state.idle_w);
        let max_w = limited.map(|state| state.max_w).or(self.is_capped.then_some(self.power.max_w));
        self.limit = max_w.map(|max_w| PowerLimit::new(max_w - self.idle_w, spent_nj, self.now));
    }

    /// Returns whether the power state of the drive limits its work.
    #[inline]
    pub(crate) fn is_limited(&self) -> bool {
        self.limit.is_some()
    }

    /// Returns when the drive may do more work, which has done `work` up to `at`.
    pub(crate) fn work_allowed_at(&mut self, at: SimTime, work: &Work) -> SimTime {
        let spent_nj = energy_nj(work, &self.power);
        self.limit.as_mut().map_or(0, |limit| limit.pay(at, spent_nj))
    }

    /// Returns the power states that the drive enters without a command, the lightest first.
    fn autonomous_states(&self) -> &[PowerState] {
        if self.autonomous { &self.power.states } else { &[] }
    }

    /// Returns the speed of the drive as a share of its full speed.
    pub(crate) fn speed_factor(&self) -> f64 {
        let light = self.light.filter(|light| light.is_active).map_or(1.0, |light| light.factor);
        light * self.thermal.factor.powi(self.throttle_steps as i32)
    }

    /// Returns whether the drive is slowed down because it is hot.
    fn is_throttled(&self) -> bool {
        self.throttle_steps > 0 || self.light.is_some_and(|light| light.is_active)
    }

    /// Restarts the operation counts at zero, for a drive that was purged.
    pub(crate) fn restart_counts(&mut self) {
        self.work = Work::default();
        self.limit.iter_mut().for_each(PowerLimit::restart);
    }

    /// Returns the temperature of the body, in degrees Celsius.
    pub(crate) fn body_c(&self) -> f64 {
        self.body_c
    }

    /// Returns the energy since the drive was created, in joules.
    pub(crate) fn energy_j(&self) -> f64 {
        self.energy_j
    }

    /// Returns the idle time after which the drive may be in a power state, in nanoseconds.
    pub(crate) fn sleeps_after(&self) -> SimTime {
        match self.is_held_in_state() {
            true => 0,
            false => {
                self.autonomous_states().first().map_or(SimTime::MAX, |s| ns(s.after_ms * 1e3))
            }
        }
    }

    /// Returns whether the drive is in a power state that the host has set.
    pub(crate) fn is_held_in_state(&self) -> bool {
        self.set_state.as_ref().is_some_and(|set| set.woken.is_none())
    }

    /// Advances to `now`, at which the drive has done `work` in total and has been active until
    /// `active_until`; returns power and temperature since the last sample.
    pub(crate) fn advance(
        &mut self,
        now: SimTime,
        work: &Work,
        active_until: SimTime,
    ) -> PowerThermalSample {
        self.add_energy(now, work, active_until);
        let seconds = now.saturating_sub(self.sampled) as f64 / 1e9;
        let mut power_w = 0.0;
        // Two samples at one time, as at the end of a whole second that ends a step, have no mean
        // power.
        if seconds > 0.0 {
            power_w = self.since_sample_j / seconds;
            self.since_sample_j = 0.0;
            self.sampled = now;
            self.update_temperature(power_w, seconds);
        }
        PowerThermalSample {
            power_w,
            body_c: self.body_c,
            junction_c: self.body_c + self.thermal.junction_c_per_w * power_w,
            throttled: self.is_throttled(),
        }
    }

    /// Adds the energy up to `now`.
    fn add_energy(&mut self, now: SimTime, work: &Work, active_until: SimTime) {
        let dynamic = energy_nj(work, &self.power) - energy_nj(&self.work, &self.power);
        let energy = dynamic / 1e9 + self.state_energy_j(now, active_until);
        // Work ends a state that the host has set; the drive stays active from then on, as NVMe
        // drives do where autonomous transitions are off.
        self.set_state.take_if(|set| set.woken.is_some());
        self.energy_j += energy;
        self.since_sample_j += energy;
        self.now = self.now.max(now);
        self.work = *work;
    }

    /// Updates temperature and throttling after `seconds` at constant power: the exact solution of
    /// C dT/dt = P − (T − ambient) / R. It does not depend on the length of the period, so a
    /// pause can be computed in long steps.
    fn update_temperature(&mut self, power_w: f64, seconds: f64) {
        let thermal = &self.thermal;
        let end = thermal.ambient_c + thermal.r_c_per_w * power_w;
        let time_constant = thermal.r_c_per_w * thermal.c_j_per_c;
        let decay = if time_constant > 0.0 { (-seconds / time_constant).exp() } else { 0.0 };
        let (before, was_throttled) = (self.body_c, self.is_throttled());
        self.body_c = end + (self.body_c - end) * decay;
        if let Some(light) = &mut self.light {
            light.update(self.body_c);
        }
        // A further step follows only where the last one does not cool the drive.
        let hot = self.body_c >= thermal.throttle_c;
        if self.body_c <= thermal.resume_c {
            self.throttle_steps = 0;
        } else if hot && (self.throttle_steps == 0 || self.body_c > before) {
            self.throttle_steps = (self.throttle_steps + 1).min(MAX_THROTTLE_STEPS);
        }
        let is_throttled = self.is_throttled();
        if let Some((transitions, throttled_s)) = &mut self.counted {
            *transitions += u64::from(is_throttled && !was_throttled);
            *throttled_s += if was_throttled { seconds } else { 0.0 };
        }
    }

    /// Returns what the drive states about its temperature; `None` where it does not.
    pub(crate) fn report(&self) -> Option<ThermalReport> {
        let (transitions, throttled_s) = self.counted?;
        let light = self.light.map(|light| light.from_c);
        Some(ThermalReport {
            limit_c: Some(light.unwrap_or(self.thermal.throttle_c)),
            transitions: Some(transitions),
            throttled_s: Some(throttled_s as u64),
            above_minutes: None,
        })
    }

    /// Returns the energy of the power states from the last update to `now`, in joules.
    fn state_energy_j(&self, now: SimTime, active_until: SimTime) -> f64 {
        if let Some(SetState { state, since, woken }) = &self.set_state {
            let entered = (since + ns(state.entry_us)).clamp(self.now, now.max(self.now));
            let left = woken.unwrap_or(now).clamp(entered, now.max(entered));
            let in_state = (left - entered) as f64 / 1e9;
            let active = now.saturating_sub(self.now) as f64 / 1e9 - in_state;
            return self.idle_w * active + state.w * in_state;
        }
        let mut energy = 0.0;
        // Only the part since the last update: energy of earlier parts is counted.
        let mut from = self.now;
        let mut w = self.idle_w;
        for state in self.autonomous_states() {
            let entered = active_until + ns(state.after_ms * 1e3 + state.entry_us);
            let to = entered.clamp(from, now.max(from));
            energy += w * (to - from) as f64 / 1e9;
            from = to;
            w = state.w;
        }
        energy + w * now.saturating_sub(from) as f64 / 1e9
    }

    /// Wakes the drive for a command at `now`, before which it has done `work` and was active until
    /// `active_until`; returns the exit latency in nanoseconds.
    pub(crate) fn wake(&mut self, now: SimTime, work: &Work, active_until: SimTime) -> u64 {
        if let Some(SetState { state, since, woken: woken @ None }) = &mut self.set_state {
            *woken = Some(now);
            // A transition into a state is completed before the state is left.
            let entering = (*since + ns(state.entry_us)).saturating_sub(now);
            return entering + ns(state.exit_us);
        }
        let entered = |after_ms: f64| now > active_until.saturating_add(ns(after_ms * 1e3));
        let deepest = self.autonomous_states().iter().rev().find(|state| entered(state.after_ms));
        let Some(exit_latency) = deepest.map(|state| ns(state.exit_us)) else { return 0 };
        // From here on the drive is active: the time that it slept would not be known later.
        self.add_energy(now, work, active_until);
        exit_latency
    }
}

fn ns(us: f64) -> u64 {
    (us * 1e3).round() as u64
}

/// Returns the energy of `work` in nanojoules.
fn energy_nj(work: &Work, power: &PowerFigures) -> f64 {
    let flash = &work.flash;
    work.commands as f64 * power.command_nj
        + work.link_bytes as f64 / 1_024.0 * power.link_nj_per_kib
        + flash.senses as f64 * power.read_nj
        + flash.programs as f64 * power.program_nj
        + flash.slc_programs as f64 * power.slc_program_nj
        + flash.erases as f64 * power.erase_nj
}
