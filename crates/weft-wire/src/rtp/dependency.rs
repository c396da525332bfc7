//! Dependency descriptor: layers, decode targets and references of a frame, readable
//! without the payload (RTP Payload Format For AV1, version 1.0, appendix A).

mod bits;
mod rewriting;
#[cfg(test)]
mod tests;

use bits::Bits;
pub use rewriting::rewritten;

use crate::ParseError;

/// Name of the extension in session descriptions (section A.9).
pub const DEPENDENCY_URI: &str =
    "https://aomediacodec.github.io/av1-rtp-spec/#dependency-descriptor-rtp-header-extension";

/// Length of the mandatory fields (section A.8.2).
const MANDATORY_LEN: usize = 3;
/// Maximum number of templates of a structure, whose ids have six bits.
const MOST_TEMPLATES: usize = 64;
/// Maximum number of references of a frame. Chosen by us: an AV1 frame refers to at most
/// seven others, a VP9 frame to three and to the spatial layer below.
const MOST_REFERENCES: usize = 8;

/// Relation of a frame to a decode target (section A.8.3.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Indication {
    /// The target does not need it.
    NotPresent,
    /// No later frame of the target refers to it.
    Discardable,
    /// A receiver that decodes it can decode the target from this frame on.
    Switch,
    /// Later frames of the target may refer to it.
    Required,
}

/// Indications of a frame for all decode targets, two bits each.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Indications(u64);

impl Indications {
    fn read(bits: &mut Bits<'_>, targets: u8) -> Result<Indications, ParseError> {
        let mut all = 0;
        for target in 0..targets {
            all |= u64::from(bits.take(2)?) << (2 * target);
        }
        Ok(Indications(all))
    }

    /// Returns the indication for a target.
    #[must_use]
    pub fn of(self, target: u8) -> Indication {
        match self.0.checked_shr(2 * u32::from(target)).unwrap_or(0) & 3 {
            0 => Indication::NotPresent,
            1 => Indication::Discardable,
            2 => Indication::Switch,
            _ => Indication::Required,
        }
    }

    /// Whether the target needs the frame.
    #[must_use]
    pub fn has(self, target: u8) -> bool {
        self.of(target) != Indication::NotPresent
    }
}

/// Frames that a frame refers to, as differences of frame numbers.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct References {
    differences: [u16; MOST_REFERENCES],
    len: u8,
}

impl References {
    fn push(&mut self, difference: u32) -> Result<(), ParseError> {
        let place = self.differences.get_mut(usize::from(self.len));
        let place = place.ok_or(ParseError::TooLarge {
            what: "list of frame differences",
        })?;
        *place = difference as u16;
        self.len += 1;
        Ok(())
    }

    /// Returns the differences, from 1.
    #[must_use]
    pub fn differences(&self) -> &[u16] {
        &self.differences[..usize::from(self.len)]
    }
}

/// Layers, indications and references of a frame.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Spatial layer, from 0.
    pub spatial: u8,
    /// Temporal layer, from 0.
    pub temporal: u8,
    /// Relation to each decode target.
    pub indications: Indications,
    /// Frames that it refers to.
    pub references: References,
}

/// Templates of a coded video sequence, sent in the first packet of a keyframe.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Structure {
    offset: u8,
    targets: u8,
    chains: u8,
    templates: Vec<Frame>,
}

impl Structure {
    fn read(bits: &mut Bits<'_>) -> Result<Structure, ParseError> {
        let offset = bits.take(6)? as u8;
        let targets = bits.take(5)? as u8 + 1;
        let mut templates = read_layers(bits)?;
        for template in &mut templates {
            template.indications = Indications::read(bits, targets)?;
        }
        for template in &mut templates {
            while bits.flag()? {
                template.references.push(bits.take(4)? + 1)?;
            }
        }
        let chains = bits.below(u32::from(targets) + 1)? as u8;
        if chains > 0 {
            for _ in 0..targets {
                bits.below(u32::from(chains))?;
            }
            bits.skip(4 * usize::from(chains) * templates.len())?;
        }
        if bits.flag()? {
            let spatial_layers = templates.last().map_or(0, |last| last.spatial + 1);
            bits.skip(32 * usize::from(spatial_layers))?;
        }
        Ok(Structure {
            offset,
            targets,
            chains,
            templates,
        })
    }

    /// Returns the number of decode targets, 1 to 32.
    #[must_use]
    pub fn targets(&self) -> u8 {
        self.targets
    }

    /// Returns the bits of all decode targets; the first one is the lowest bit.
    #[must_use]
    pub fn all_targets(&self) -> u32 {
        u32::MAX >> (32 - u32::from(self.targets))
    }

    /// Returns the highest spatial and temporal layer of a decode target.
    #[must_use]
    pub fn layers_of(&self, target: u8) -> (u8, u8) {
        let own = self.templates.iter().filter(|t| t.indications.has(target));
        own.fold((0, 0), |(spatial, temporal), template| {
            (
                spatial.max(template.spatial),
                temporal.max(template.temporal),
            )
        })
    }

    /// Whether the other target needs every frame that this target needs.
    #[must_use]
    pub fn is_within(&self, target: u8, other: u8) -> bool {
        let mut all = self.templates.iter().map(|template| template.indications);
        all.all(|frame| !frame.has(target) || frame.has(other))
    }

    fn template(&self, id: u8) -> Result<Frame, ParseError> {
        let index = usize::from(id.wrapping_sub(self.offset)) % MOST_TEMPLATES;
        let template = self.templates.get(index).copied();
        template.ok_or(ParseError::Invalid {
            what: "template id of a frame",
        })
    }
}

/// Reads the layers of all templates, in ascending order.
fn read_layers(bits: &mut Bits<'_>) -> Result<Vec<Frame>, ParseError> {
    /// Value of `next_layer_idc`.
    const NEXT_TEMPORAL: u32 = 1;
    const NEXT_SPATIAL: u32 = 2;
    const LAST: u32 = 3;
    let mut layer = Frame::default();
    let mut templates = Vec::new();
    loop {
        if templates.len() == MOST_TEMPLATES {
            return Err(ParseError::TooLarge {
                what: "list of templates",
            });
        }
        templates.push(layer);
        match bits.take(2)? {
            NEXT_TEMPORAL => layer.temporal += 1,
            NEXT_SPATIAL => {
                layer.temporal = 0;
                layer.spatial += 1;
            }
            LAST => return Ok(templates),
            _ => {}
        }
    }
}

/// Fields that every descriptor has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mandatory {
    /// Whether the packet is the first of its frame.
    pub start_of_frame: bool,
    /// Whether the packet is the last of its frame.
    pub end_of_frame: bool,
    /// Counter of frames, of all layers together.
    pub number: u16,
    template: u8,
}

impl Mandatory {
    /// Reads the fields, which need no structure.
    ///
    /// # Errors
    /// If the descriptor is too short.
    pub fn parse(descriptor: &[u8]) -> Result<Mandatory, ParseError> {
        let &[first, high, low, ..] = descriptor else {
            return Err(ParseError::Truncated {
                what: "dependency descriptor",
            });
        };
        Ok(Mandatory {
            start_of_frame: first & 0x80 != 0,
            end_of_frame: first & 0x40 != 0,
            number: u16::from_be_bytes([high, low]),
            template: first & 0x3f,
        })
    }
}

/// Flags of the fields after the mandatory ones.
#[derive(Clone, Copy, Default)]
struct Extended {
    structure: bool,
    active: bool,
    indications: bool,
    references: bool,
    chains: bool,
}

impl Extended {
    const LEN: u32 = 5;

    /// Reads the flags; none is set if nothing follows the mandatory fields.
    fn read(bits: &mut Bits<'_>) -> Result<Extended, ParseError> {
        if bits.is_empty() {
            return Ok(Extended::default());
        }
        Ok(Extended {
            structure: bits.flag()?,
            active: bits.flag()?,
            indications: bits.flag()?,
            references: bits.flag()?,
            chains: bits.flag()?,
        })
    }
}

/// Descriptor after its mandatory fields.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Details {
    /// Frame of the packet.
    pub frame: Frame,
    /// Structure, at the start of a keyframe. It replaces earlier ones.
    pub structure: Option<Structure>,
    /// Bits of the decode targets that are sent from this packet on; the first one is the
    /// lowest bit.
    pub active: Option<u32>,
}

impl Details {
    /// Reads a descriptor of a stream whose present structure is `structure`.
    ///
    /// # Errors
    /// If it is truncated, exceeds a limit or names an unknown template.
    pub fn parse(descriptor: &[u8], structure: Option<&Structure>) -> Result<Details, ParseError> {
        let mandatory = Mandatory::parse(descriptor)?;
        let mut bits = Bits::new(&descriptor[MANDATORY_LEN..]);
        let extended = Extended::read(&mut bits)?;
        let own = match extended.structure {
            true => Some(Structure::read(&mut bits)?),
            false => None,
        };
        let structure = own.as_ref().or(structure).ok_or(ParseError::Invalid {
            what: "dependency descriptor before the first structure",
        })?;
        let active = match extended.active {
            true => Some(bits.take(u32::from(structure.targets))?),
            false => own.as_ref().map(Structure::all_targets),
        };
        let mut frame = structure.template(mandatory.template)?;
        if extended.indications {
            frame.indications = Indications::read(&mut bits, structure.targets)?;
        }
        if extended.references {
            frame.references = read_references(&mut bits)?;
        }
        if extended.chains {
            bits.skip(8 * usize::from(structure.chains))?;
        }
        Ok(Details {
            frame,
            active,
            structure: own,
        })
    }
}

/// Reads references that differ from those of the template.
fn read_references(bits: &mut Bits<'_>) -> Result<References, ParseError> {
    let mut references = References::default();
    loop {
        match bits.take(2)? {
            0 => return Ok(references),
            size => references.push(bits.take(4 * size)? + 1)?,
        }
    }
}
