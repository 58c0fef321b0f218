import Testing

@testable import Attache

@Suite struct AdmissionTests {
  private final class Guest {}

  @Test func `guests beyond the places wait, first come first served, each origin for itself`() {
    var admission = Admission<Guest>(places: 2)
    let guests = (0..<5).map { _ in Guest() }
    let mayStart = guests.prefix(4).map { admission.enter("a", $0) } + [admission.enter("b", guests[4])]
    #expect(mayStart == [true, true, false, false, true])
    let next = (0..<4).map { _ in admission.leave("a") }
    #expect(next.map { guest in guests.firstIndex { $0 === guest } } == [2, 3, nil, nil])
    let isFreeAgain = admission.enter("a", guests[0])
    #expect(isFreeAgain)
  }

  @Test func `a guest that gives up is not called`() {
    var admission = Admission<Guest>(places: 1)
    let guests = (0..<3).map { _ in Guest() }
    let mayStart = guests.map { admission.enter("a", $0) }
    #expect(mayStart == [true, false, false])
    admission.giveUp("a", guests[1])
    let next = admission.leave("a")
    #expect(next === guests[2])
  }
}
