extension ScenarioField {
  /// An origin: its settings, and its paths, which begin with a slash.
  func origin(_ files: ScenarioFolder) throws(ScenarioError) -> OriginScript {
    var origin = OriginScript()
    for (name, field) in isNull ? [] : try members() {
      switch name {
      case "tls": origin.tls = try field.choice()
      case "connection": origin.connection = try field.choice()
      case "http2": origin.offersHTTP2 = try field.truth()
      default:
        guard name.hasPrefix("/") else {
          throw field.error("there is no such field; known here: tls, connection, http2, and paths, which begin with /")
        }
        origin.paths[name] = try field.path(files)
      }
    }
    if origin.connection != nil, !origin.paths.isEmpty {
      throw error("an origin whose connections are \(origin.connection?.rawValue ?? "") answers nothing: leave out its paths")
    }
    return origin
  }

  private static let turns = ["first", "second", "third"]

  /// What a path does: a list of steps, or one for each request.
  private func path(_ files: ScenarioFolder) throws(ScenarioError) -> PathScript {
    guard isMapping else { return PathScript(responses: [try steps(files)]) }
    return PathScript(responses: try turns { field throws(ScenarioError) in try field.steps(files) })
  }

  /// `first`, `second`, `third`, `then`: what is said of each in turn.
  func turns<Value>(_ read: (ScenarioField) throws(ScenarioError) -> Value) throws(ScenarioError) -> [Value] {
    let fields = try members(of: Self.turns + ["then"])
    var values: [Value] = []
    for (index, name) in Self.turns.enumerated() {
      guard let field = fields[name] else { continue }
      guard values.count == index else { throw field.error("`\(Self.turns[values.count])` is missing before it") }
      values.append(try read(field))
    }
    guard let last = fields["then"] else { throw error("`then:` is missing: what happens from there on") }
    return values + [try read(last)]
  }

  private func steps(_ files: ScenarioFolder) throws(ScenarioError) -> [OriginStep] {
    guard !isNull else { return [] }
    var steps: [OriginStep] = []
    var order = StepOrder()
    for item in try list() {
      let step = try item.step(files)
      if let mistake = order.mistake(adding: step) { throw item.error(mistake) }
      steps.append(step)
    }
    return steps
  }

  /// Every redirect's placeholders can be filled in.
  func checkRedirects(of origins: [String: OriginScript]) throws(ScenarioError) {
    for origin in origins.values {
      for steps in origin.paths.values.flatMap(\.responses) {
        for step in steps {
          if case .redirect(let place) = step.action { try check(placeholdersOf: place, origins: origins, what: "redirect") }
        }
      }
    }
  }
}
