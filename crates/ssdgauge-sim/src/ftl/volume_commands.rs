//! Commands to a drive of several independent volumes.
//!
//! Each volume is a layer with a share of the flash; the layer above it keeps the counts of all. No command of one volume
//! may wait for the flash of another one.

use crate::ftl::Ftl;
use crate::ftl::volumes::Volumes;
use crate::operations::Operations;
use crate::profile::{Geometry, NandFigures, Profile, SlcFigures};
use crate::time::SimTime;

impl Ftl {
    /// Returns the volumes of a drive that was never written.
    pub(super) fn new_volumes(profile: &Profile, geometry: &Geometry, seed: u64) -> Volumes<Ftl> {
        let share = f64::from(geometry.volumes);
        let mut of_volume = profile.clone();
        of_volume.effects.volumes = 0;
        // Rates and bytes of the whole drive.
        of_volume.slc.fold_mb_s /= share;
        of_volume.slc.fold_under_load_mb_s /= share;
        of_volume.gc.burst_mib /= share;
        let number = if geometry.volumes > 1 { geometry.volumes } else { 0 };
        let volume = |number| {
            Ftl::new(&of_volume, geometry.of_volume(number), seed.wrapping_add(u64::from(number)))
        };
        Volumes::new((0..number).map(volume).collect(), geometry.volume_pages)
    }

    pub(super) fn write_volumes(&mut self, at: SimTime, first: u32, pages: u32) -> SimTime {
        let mut done = at;
        for piece in self.volumes.pieces(first, pages) {
            let volume = &mut self.volumes.parts[piece.volume];
            // Events are dated by what the host wrote to the drive.
            volume.media.truth.host_bytes = self.media.truth.host_bytes;
            volume.media.map.continue_after(self.volumes.generation);
            done = done.max(volume.write::<false>(at, piece.first, piece.pages));
            self.volumes.generation = volume.media.map.generation();
        }
        self.add_up_volumes();
        done
    }

    pub(super) fn read_volumes(&mut self, at: SimTime, first: u32, pages: u32) -> SimTime {
        let mut done = at;
        for piece in self.volumes.pieces(first, pages) {
            let volume = &mut self.volumes.parts[piece.volume];
            done = done.max(volume.read(at, piece.first, piece.pages));
        }
        self.add_up_volumes();
        done
    }

    pub(super) fn trim_volumes(&mut self, first: u32, pages: u32) {
        for piece in self.volumes.pieces(first, pages) {
            let volume = &mut self.volumes.parts[piece.volume];
            if !volume.media.geometry.in_place {
                volume.deallocate(piece.first, piece.pages);
            }
        }
        self.add_up_volumes();
    }

    /// Empties the write buffer of each volume; see [`Ftl::empty_buffer`].
    pub(super) fn empty_buffers(&mut self, at: SimTime) -> SimTime {
        let volumes = self.volumes.parts.iter_mut();
        let empty = volumes.fold(at, |empty, volume| empty.max(volume.empty_buffer(at)));
        self.add_up_volumes();
        empty
    }

    /// Takes over the counts of the volumes.
    pub(super) fn add_up_volumes(&mut self) {
        let parts = &self.volumes.parts;
        let media = &mut self.media;
        media.truth = media.truth.of_volumes(parts.iter().map(|volume| &volume.media.truth));
        media.copied_pages = parts.iter().map(|volume| volume.media.copied_pages).sum();
        let operations = parts.iter().map(|volume| volume.media.flash.operations);
        media.flash.operations = operations.fold(Operations::default(), Operations::plus);
    }

    /// Begins a step: events of earlier ones are forgotten, and writes are not synchronous.
    pub(crate) fn begin_step(&mut self) {
        self.media.truth.cache_exhausted = None;
        self.set_sync(false);
        self.volumes.parts.iter_mut().for_each(Ftl::begin_step);
    }

    /// Stores a generation with every slot from this call on.
    pub(crate) fn keep_generations(&mut self) {
        self.media.map.keep_generations();
        self.volumes.parts.iter_mut().for_each(Ftl::keep_generations);
    }

    /// Sets the speed of flash operations from this call on, as a share of full speed.
    pub(crate) fn set_speed(&mut self, nand: &NandFigures, slc: &SlcFigures, factor: f64) {
        self.media.flash.set_speed(nand, slc, factor);
        let volumes = self.volumes.parts.iter_mut();
        volumes.for_each(|volume| volume.set_speed(nand, slc, factor));
    }

    /// Returns when all dies are idle.
    pub(crate) fn idle_at(&self) -> SimTime {
        let volumes = self.volumes.parts.iter().map(Ftl::idle_at);
        volumes.fold(self.media.flash.idle_at(), SimTime::max)
    }

    /// Returns the booked work of each die at `now`, in native program operations.
    pub(crate) fn backlog(&self, now: SimTime) -> impl Iterator<Item = f64> + '_ {
        let volumes = self.volumes.parts.iter();
        let of_volumes = volumes.flat_map(move |volume| volume.media.flash.backlog(now));
        self.media.flash.backlog(now).chain(of_volumes)
    }
}
