import Testing

@testable import Attache

struct NotificationContentTests {
  let reader = PayloadReader()

  @Test func `the content is what Apple's keys say`() throws {
    let aps =
      #"{"alert":{"title":"T","subtitle":"S","body":"B"},"badge":3,"sound":"ping.caf","category":"C","thread-id":"t","mutable-content":1}"#
    let expected = NotificationContent(
      title: "T", subtitle: "S", body: "B", badge: 3, sound: "ping.caf", categoryIdentifier: "C", threadIdentifier: "t")
    #expect(try content(aps) == expected)
  }

  @Test func `an alert that is a string is the body`() throws {
    #expect(try content(#"{"alert":"B","mutable-content":1}"#) == NotificationContent(body: "B"))
  }

  @Test func `a loc-key stands in for a text that is not there`() throws {
    let keys = #"{"alert":{"title":"","title-loc-key":"T","subtitle-loc-key":"S","loc-key":"L"},"mutable-content":1}"#
    #expect(try content(keys) == NotificationContent(title: "T", subtitle: "S", body: "L"))
    let both = #"{"alert":{"body":"B","loc-key":"L"},"mutable-content":1}"#
    #expect(try content(both) == NotificationContent(body: "B"))
  }

  @Test func `a sound may be a dictionary and a badge a number with a fraction of zero`() throws {
    let aps = #"{"alert":"B","sound":{"critical":1,"name":"default","volume":0.5},"badge":0.0,"mutable-content":1}"#
    #expect(try content(aps) == NotificationContent(body: "B", badge: 0, sound: "default"))
  }

  @Test func `wrong types are as good as absent`() throws {
    let aps = #"{"alert":{"body":"B","title":1,"subtitle":{}},"badge":"3","sound":4,"category":[],"thread-id":null,"mutable-content":1}"#
    #expect(try content(aps) == NotificationContent(body: "B"))
    #expect(try content(#"{"alert":"B","badge":1.5,"mutable-content":1}"#) == NotificationContent(body: "B"))
  }

  @Test func `content without a title, a subtitle or a body has no alert text`() {
    #expect(!NotificationContent(badge: 1, sound: "default").hasAlertText)
    #expect(NotificationContent(subtitle: "S").hasAlertText)
  }

  private func content(_ aps: String) throws -> NotificationContent {
    let line = #"{"aps":\#(aps)}"#
    return try #require(reader.read(line).candidate).content(of: line)
  }
}
