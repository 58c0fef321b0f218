import Attache
import AttacheInspection
import Testing

/// Files of an app's categories, right and wrong.
struct NotificationCategoriesTests {
  @Test func `actions have what Apple's have`() throws {
    let categories = try NotificationCategories(
      Array(
        """
        {"categories": [{"identifier": "A", "actions": [
          {"identifier": "r", "title": "Reply", "icon": "arrow", "textInput": {"buttonTitle": "Send"}},
          {"identifier": "d", "title": "Delete", "options": ["destructive", "authenticationRequired", "foreground"]}]},
         {"identifier": "B"}]}
        """.utf8))
    let actions = try #require(categories.actions(of: "A"))
    #expect(actions.map(\.title) == ["Reply", "Delete"])
    #expect(actions.map(\.takesText) == [true, false])
    #expect(actions.map(\.isDestructive) == [false, true])
    #expect(actions.map(\.asksToUnlock) == [false, true])
    #expect(actions[0].icon == "arrow")
    #expect(categories.actions(of: "B") == [])
    #expect(categories.actions(of: "C") == nil)
    #expect(categories.examples == "“A”, “B”")
  }

  @Test func `identifiers are compared by their bytes`() throws {
    // The same letter, in one scalar and in two.
    let categories = try NotificationCategories(Array(#"[{"identifier":"\u00e9"},{"identifier":"e\u0301"}]"#.utf8))
    #expect(categories.examples == "“é”, “e\u{301}”")
    let one = try NotificationCategories(Array(#"[{"identifier":"\u00e9"}]"#.utf8))
    #expect(one.actions(of: "\u{e9}") == [] && one.actions(of: "e\u{301}") == nil)
  }

  @Test func `the list alone is a file, too`() throws {
    #expect(try NotificationCategories(Array(#"[{"identifier":"A"}]"#.utf8)).examples == "“A”")
  }

  @Test(arguments: [
    ("[", "this is no JSON"), ("{}", "there is no array “categories”"), (#"{"categories":{}}"#, "there is no array “categories”"),
    (#"[7]"#, "categories[0]: there is no string “identifier”; add one"),
    (#"[{"identifier":""}]"#, "categories[0]: there is no string “identifier”"),
    (#"[{"identifier":"A"},{"identifier":"A"}]"#, "categories[1]: another category has the identifier “A”; remove one"),
    (#"[{"identifier":"A","actions":{}}]"#, "categories[0].actions: this is no array"),
    (#"[{"identifier":"A","actions":[{"identifier":"x"}]}]"#, "categories[0].actions[0]: there is no string “title”"),
    (
      #"[{"identifier":"A","actions":[{"identifier":"x","title":"X","options":["red"]}]}]"#,
      "categories[0].actions[0].options: one option is unknown"
    ),
    (
      #"[{"identifier":"A","actions":[{"identifier":"x","title":"X","options":"red"}]}]"#,
      "categories[0].actions[0].options: this is no array"
    ),
  ])
  func `a mistake is named with its place`(text: String, message: String) {
    let error = #expect(throws: CategoriesError.self) { _ = try NotificationCategories(Array(text.utf8)) }
    #expect(error?.description.hasPrefix(message) == true, "\(String(describing: error))")
  }

  @Test func `a file that is missing is named`() {
    let error = #expect(throws: CategoriesError.self) { _ = try NotificationCategories(contentsOf: "/nowhere/c.json") }
    #expect(error?.description == "/nowhere/c.json: the file cannot be read: No such file or directory")
  }
}
