use super::paint::Rgb;

/// Hairstyle of the person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hair {
    Short,
    Bob,
}

/// Colours of a person and a room.
#[derive(Clone, Debug)]
pub struct Palette {
    pub skin: Rgb,
    pub lips: Rgb,
    pub hair: Rgb,
    pub gloss: Rgb,
    pub eyes: Rgb,
    pub sweater: Rgb,
    pub wall: Rgb,
    pub style: Hair,
}

impl Palette {
    /// Returns the colours of a person, by seed.
    pub fn pick(seed: u64) -> Palette {
        let all = [
            Palette {
                skin: [236.0, 190.0, 162.0],
                lips: [196.0, 98.0, 92.0],
                hair: [66.0, 42.0, 30.0],
                gloss: [150.0, 104.0, 70.0],
                eyes: [96.0, 66.0, 42.0],
                sweater: [44.0, 104.0, 118.0],
                wall: [206.0, 192.0, 172.0],
                style: Hair::Bob,
            },
            Palette {
                skin: [172.0, 118.0, 84.0],
                lips: [150.0, 76.0, 70.0],
                hair: [34.0, 27.0, 25.0],
                gloss: [92.0, 76.0, 68.0],
                eyes: [64.0, 42.0, 30.0],
                sweater: [196.0, 132.0, 58.0],
                wall: [178.0, 194.0, 192.0],
                style: Hair::Short,
            },
            Palette {
                skin: [242.0, 200.0, 176.0],
                lips: [200.0, 108.0, 104.0],
                hair: [150.0, 98.0, 52.0],
                gloss: [224.0, 176.0, 116.0],
                eyes: [84.0, 120.0, 138.0],
                sweater: [132.0, 62.0, 76.0],
                wall: [196.0, 200.0, 186.0],
                style: Hair::Bob,
            },
            Palette {
                skin: [222.0, 174.0, 138.0],
                lips: [182.0, 96.0, 88.0],
                hair: [46.0, 38.0, 36.0],
                gloss: [104.0, 90.0, 84.0],
                eyes: [70.0, 52.0, 38.0],
                sweater: [66.0, 78.0, 112.0],
                wall: [212.0, 198.0, 186.0],
                style: Hair::Short,
            },
        ];
        all[(seed % all.len() as u64) as usize].clone()
    }
}
