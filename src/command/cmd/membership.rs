//! `leakbound membership`: attacks on recorded answers of shadow models, and what they show.

use super::membership_attack::Attack;
use super::membership_work::Work;
use crate::Result;
use crate::command::args::{Common, MembershipCommand};
use crate::membership::Victims;

pub fn run(common: &Common, command: &MembershipCommand) -> Result<bool> {
    let everyone = Victims::LeaveOneOut;
    match command {
        MembershipCommand::Lira(options) => {
            let (work, recording) = Work::new(common, options, &options.study, &options.victims.victims.0)?;
            work.one(
                "leakbound.membership-lira/1",
                &format!("LiRA, variant {}", options.variant.0),
                &Attack::lira(options),
                recording,
            )
        }
        MembershipCommand::LabelOnly(options) => {
            let (work, recording) = Work::new(common, options, &options.study, &options.victims.victims.0)?;
            work.one("leakbound.membership-label-only/1", "label-only", &Attack::label_only(options), recording)
        }
        MembershipCommand::Threshold(options) => {
            let (work, recording) = Work::new(common, options, &options.study, &everyone)?;
            work.one("leakbound.membership-threshold/1", "threshold", &Attack::threshold(options), recording)
        }
        MembershipCommand::Rmia(options) => {
            let (work, recording) = Work::new(common, options, &options.study, &options.victims.victims.0)?;
            work.one("leakbound.membership-rmia/1", "RMIA", &Attack::rmia(options), recording)
        }
        MembershipCommand::Risk(options) => {
            let (work, recording) = Work::new(common, options, &options.study, &options.victims.victims.0)?;
            work.one("leakbound.membership-risk/1", "privacy-risk score", &Attack::risk(options), recording)
        }
        MembershipCommand::Attacker(options) => {
            let (work, recording) = Work::new(common, options, &options.study, &everyone)?;
            work.one(
                "leakbound.membership-attacker/1",
                "trained attacker",
                &Attack::Trained { seed: common.seed },
                recording,
            )
        }
        MembershipCommand::Compare(options) => super::membership_compare::run(common, options),
    }
}
