import AttacheQueue
import Testing
