import AttachePostgreSQL
import AttacheQueue
import Testing

@Suite struct PostgreSQLAddressTests {
  @Test(arguments: [
    ("postgresql://push@db1,db2:5433/push", "postgresql://push@db1,db2:5433/push"),
    ("postgres://db1/push?sslmode=require&connect_timeout=9", "postgresql://db1/push"),
    ("postgresql://db1/push?queue=eu_1&passfile=%2Fetc%2Fpgpass", "postgresql://db1/push?queue=eu_1"),
    ("postgresql://db1/push?passfile=/p&queue=m%61in", "postgresql://db1/push?queue=main"),
    ("postgresql://[::1]:5433/push", "postgresql://[::1]:5433/push"),
    ("postgresql:///push?host=/run/postgresql", "postgresql:///push?host=%2Frun%2Fpostgresql"),
  ])
  func `the description names the servers, the database and the queue, and parses again`(text: String, described: String) throws {
    let address = try PostgreSQLAddress(parsing: text)
    #expect(address.description == described)
    #expect(try PostgreSQLAddress(parsing: described).description == described)
  }

  @Test(arguments: [
    "postgresql://push:secret@db1/push", "postgresql://push:@db1/push", "postgresql://push%3Ax:secret@db1/push",
    "postgresql://db1/push?password=secret", "postgresql://db1/push?%70assword=secret", "postgresql://db1/push?queue=a&sslpassword=secret",
    "postgresql://a@b:secret@db1/push", "postgresql://user:pa?secret@db1/push",
  ])
  func `a password is refused, and not repeated`(text: String) {
    let error = #expect(throws: QueueAddressError.self) { try PostgreSQLAddress(parsing: text) }
    #expect(error?.description.contains("must not contain a password") == true)
    #expect(error?.description.contains("secret") == false)
  }

  @Test(arguments: [
    ("postgresql://db1/push?queue=Main", "has 1 to 40 of the characters"),
    ("postgresql://db1/push?queue=", "has 1 to 40 of the characters"),
    ("postgresql://db1/push?queue=" + String(repeating: "a", count: 41), "has 1 to 40 of the characters"),
    ("postgresql://db1", "names its database"), ("postgresql://db1/", "names its database"),
    ("postgresql://db1/push?colour=red", "colour"),
    ("postgresql://db1/push?hostaddr=10.0.0.1,10.0.0.2", "addresses in hostaddr"),
  ])
  func `a wrong address says what is wrong`(text: String, part: String) {
    let error = #expect(throws: QueueAddressError.self) { try PostgreSQLAddress(parsing: text) }
    #expect(error?.description.contains(part) == true, "\(error?.description ?? "")")
  }

  @Test(arguments: [
    ("postgresql://db1/push", "verify-full"), ("postgresql://db1/push?sslmode=require", "require"), ("postgresql://127.0.0.1/push", "none"),
    ("postgresql://localhost:5433,127.8.0.1/push", "none none"), ("postgresql://[::1]/push", "none"), ("postgresql:///push", "none"),
    ("postgresql:///push?host=/run/postgresql", "none"), ("postgresql://127.0.0.1.example/push", "verify-full"),
    ("postgresql://127.+0.0.1/push", "verify-full"), ("postgresql://127.0.0.1,db1/push", "none verify-full"),
    ("postgresql://localhost/push?hostaddr=10.0.0.5", "verify-full"),
  ])
  func `a server that is not this machine must prove its name`(text: String, mode: String) throws {
    #expect(try PostgreSQLAddress(parsing: text).sslModes.joined(separator: " ") == mode)
  }

  @Test(arguments: [("127.0.0.1", "127.0.0.1"), ("db1,db2", "db1,db2")])
  func `a queue of another kind is another location`(hosts: String, named: String) throws {
    let address = try PostgreSQLAddress(parsing: "postgresql://\(hosts)/push")
    #expect(QueueLocation(address).description == "postgresql://\(named)/push")
    #expect(address.path == nil)
    #expect(address.files == [])
  }
}
