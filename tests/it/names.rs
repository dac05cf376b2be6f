//! Names of enums are the same on the command line, in tables and in documents.

#[test]
fn names_are_those_of_documents() {
    macro_rules! same {
        ($($type:ty),+ $(,)?) => {
            $(for one in <$type>::ALL {
                assert_eq!(serde_json::json!(one), one.name(), "{}", stringify!($type));
            })+
        };
    }
    same!(
        leakbound::audit::FailurePer,
        leakbound::bound::Validity,
        leakbound::distribution::ThresholdForm,
        leakbound::divergence::Conversion,
        leakbound::label_dp::LabelFamily,
        leakbound::membership::CanaryKind,
        leakbound::membership::DefenseAttack,
        leakbound::membership::DefenseFamily,
        leakbound::membership::TextScore,
        leakbound::model::Adversary,
        leakbound::model::Composition,
        leakbound::model::PoisonSearch,
        leakbound::program::FaultKind,
        leakbound::property::PropertyAttack,
        leakbound::self_check::CheckCase,
        leakbound::self_check::CheckVerdict,
        leakbound::study::BenchWork,
        leakbound::study::Varied,
        leakbound::verify::ClaimScope,
    );
}
