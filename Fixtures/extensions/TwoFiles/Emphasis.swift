enum Emphasis {
  case strong

  func applied(to text: String) -> String {
    text + "!"
  }
}
