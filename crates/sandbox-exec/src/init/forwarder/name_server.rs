//! Answers to a command's name queries. No query ever leaves the command's network namespace.

use simple_dns::rdata::{A, RData};
use simple_dns::{CLASS, OPCODE, Packet, PacketFlag, QCLASS, QTYPE, RCODE, ResourceRecord, TYPE};

use super::names::{LONGEST_NAME, Lookup, Names};
use crate::report::denial::Denial;

/// The time in seconds for which an answer may be kept; it holds until the command's end.
const TIME_TO_LIVE: u32 = 60;

/// The longest query that is parsed.
pub(super) const QUERY_LIMIT_BYTES: usize = 1024;

/// Answers one query, with a refusal to report; `None` if it cannot be answered.
pub(super) fn answer(query: &[u8], names: &mut Names) -> Option<(Vec<u8>, Option<Denial>)> {
    let query = Packet::parse(query.get(..query.len().min(QUERY_LIMIT_BYTES))?).ok()?;
    if query.has_flags(PacketFlag::RESPONSE) {
        return None;
    }
    let mut reply = Packet::new_reply(query.id());
    reply.set_flags(PacketFlag::RECURSION_AVAILABLE);
    if query.has_flags(PacketFlag::RECURSION_DESIRED) {
        reply.set_flags(PacketFlag::RECURSION_DESIRED);
    }
    let mut denial = None;
    match query.questions.as_slice() {
        _ if query.opcode() != OPCODE::StandardQuery => *reply.rcode_mut() = RCODE::NotImplemented,
        [question] => {
            reply.questions.push(question.clone());
            let name = question.qname.to_string().to_ascii_lowercase();
            let is_internet = matches!(question.qclass, QCLASS::CLASS(CLASS::IN) | QCLASS::ANY);
            let wants = |kind| question.qtype == QTYPE::TYPE(kind);
            let lookup = if name.len() > LONGEST_NAME { Lookup::NotAllowed } else { names.find(&name) };
            match lookup {
                _ if !is_internet => *reply.rcode_mut() = RCODE::Refused,
                Lookup::Address(address) if wants(TYPE::A) || question.qtype == QTYPE::ANY => {
                    let data = RData::A(A { address: address.to_bits() });
                    let name = question.qname.clone();
                    reply.answers.push(ResourceRecord::new(name, CLASS::IN, TIME_TO_LIVE, data));
                }
                // The server has no records of other types.
                Lookup::Address(_) => {}
                Lookup::NotAllowed => {
                    *reply.rcode_mut() = RCODE::NameError;
                    // Resolvers query both kinds of addresses: report one refusal for each lookup.
                    denial = (!wants(TYPE::AAAA)).then_some(Denial::Lookup(name));
                }
                Lookup::Full => *reply.rcode_mut() = RCODE::ServerFailure,
            }
        }
        _ => *reply.rcode_mut() = RCODE::FormatError,
    }
    Some((reply.build_bytes_vec().ok()?, denial))
}

#[cfg(test)]
mod tests {
    use simple_dns::{Name, Question};

    use super::*;
    use crate::policy::network::AllowedName;

    fn names() -> Names {
        Names::new(vec![AllowedName { pattern: "a.example".into(), ports: vec![443] }])
    }

    fn query(name: &str, kind: TYPE) -> (RCODE, Vec<u32>, Option<Denial>) {
        let mut query = Packet::new_query(7);
        query.questions.push(Question::new(Name::new_unchecked(name), kind.into(), CLASS::IN.into(), false));
        let (reply, denial) = answer(&query.build_bytes_vec().unwrap(), &mut names()).unwrap();
        let reply = Packet::parse(&reply).unwrap();
        assert!(reply.id() == 7 && reply.has_flags(PacketFlag::RESPONSE) && reply.questions.len() == 1);
        let address = |record: &ResourceRecord<'_>| match &record.rdata {
            RData::A(record) => record.address,
            other => panic!("{other:?}"),
        };
        (reply.rcode(), reply.answers.iter().map(address).collect(), denial)
    }

    #[test]
    fn allowed_names_have_one_address_and_others_do_not_exist() {
        assert_eq!(query("A.Example", TYPE::A), (RCODE::NoError, vec![0xc612_0100], None));
        assert_eq!(query("a.example", TYPE::AAAA), (RCODE::NoError, vec![], None));
        assert_eq!(query("a.example", TYPE::TXT), (RCODE::NoError, vec![], None));
        assert_eq!(query("b.example", TYPE::AAAA), (RCODE::NameError, vec![], None));
        let denial = Some(Denial::Lookup("b.example".into()));
        assert_eq!(query("b.example", TYPE::A), (RCODE::NameError, vec![], denial));
        let long = [["a"; 63].concat(), ["b"; 63].concat(), ["c"; 63].concat(), ["d"; 61].concat()].join(".");
        assert_eq!(query(&long, TYPE::A).2, Some(Denial::Lookup(long)));
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_the_name_server_panic(
            bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..80),
            index in 0usize..27,
            value: u8,
        ) {
            let _ = answer(&bytes, &mut names());
            let mut query = Packet::new_query(7);
            query.questions.push(Question::new(Name::new_unchecked("a.example"), TYPE::A.into(), CLASS::IN.into(), false));
            let mut bytes = query.build_bytes_vec().unwrap();
            bytes[index] = value;
            let _ = answer(&bytes, &mut names());
        }
    }
}
