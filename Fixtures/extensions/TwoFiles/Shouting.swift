extension String {
  var shouted: String { uppercased() }
}
