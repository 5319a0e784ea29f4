//! Addresses that a name may not lead to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use egress::refused_kind;
use insta::assert_snapshot;
use proptest::prelude::*;

#[test]
fn special_addresses_are_refused_and_those_of_the_internet_are_not() {
    let texts = [
        "93.184.215.14",
        "8.8.8.8",
        "100.63.255.255",
        "100.128.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "2606:4700::1111",
        "64:ff9b::808:808",
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.5",
        "100.100.100.200",
        "127.0.0.1",
        "127.255.255.254",
        "168.63.129.15",
        "168.63.129.16",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.192",
        "192.168.1.1",
        "198.18.0.1",
        "198.19.255.255",
        "224.0.0.1",
        "239.255.255.250",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "::ffff:8.8.8.8",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b::7f00:1",
        "64:ff9b:1::1",
        "2001::1",
        "2002:7f00:1::",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "febf::1",
        "fec0::1",
        "ff02::1",
        // IPv4 as written by translators without their own prefix.
        "::ffff:0:127.0.0.1",
        "::ffff:0:8.8.8.8",
        "200::1",
        "1fff::1",
        "3fff:ffff::1",
        "4000::1",
        "5f00::1",
    ];
    let line = |text: &&str| {
        let kind = refused_kind(text.parse().unwrap());
        format!("{text} {}", kind.map_or("may be dialled".to_owned(), |kind| kind.to_string()))
    };
    assert_snapshot!("addresses", texts.iter().map(line).collect::<Vec<_>>().join("\n"));
}

proptest! {
    #[test]
    fn what_the_standard_library_calls_local_is_refused(bits: u32, high: u128) {
        let v4 = Ipv4Addr::from_bits(bits);
        let is_local = v4.is_loopback() || v4.is_private() || v4.is_link_local() || v4.is_multicast()
            || v4.is_broadcast() || v4.is_unspecified();
        prop_assert!(!is_local || refused_kind(IpAddr::V4(v4)).is_some(), "{v4}");
        prop_assert!(refused_kind(IpAddr::V6(v4.to_ipv6_mapped())).is_some());
        let v6 = Ipv6Addr::from_bits(high);
        let is_local = v6.is_loopback() || v6.is_multicast() || v6.is_unspecified() || v6.is_unique_local()
            || v6.is_unicast_link_local();
        prop_assert!(!is_local || refused_kind(IpAddr::V6(v6)).is_some(), "{v6}");
    }

    #[test]
    fn a_translated_address_is_judged_as_what_it_leads_to(bits: u32) {
        let v4 = Ipv4Addr::from_bits(bits);
        let [a, b, c, d] = v4.octets().map(u16::from);
        let v6 = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, a << 8 | b, c << 8 | d);
        prop_assert_eq!(refused_kind(IpAddr::V6(v6)), refused_kind(IpAddr::V4(v4)));
    }
}
