# Results of RSpec, written example by example; `--require`d beside what the project requires.

module KotefReport
  FOLDER = ENV["KOTEF_REPORTS"].to_s
  OWNER = Process.pid

  # Hears of each example, beside the formatters of the project.
  class Listener
    def initialize
      @tests = []
      @outside = []
    end

    def start(_notification)
      ENV["KOTEF_REPORTS_NESTED"] ||= OWNER.to_s
    end

    def example_passed(notification)
      add(notification.example, "passed")
    end

    def example_failed(notification)
      add(notification.example, "failed")
    end

    def example_pending(notification)
      add(notification.example, notification.example.execution_result.example_skipped? ? "skipped" : "xfailed")
    end

    # An error outside of examples: a file that cannot be loaded, a hook of the suite.
    def outside(context)
      file = context.to_s[/while loading (\S+?)\.?$/, 1]
      @outside << (file ? [File.expand_path(file), "", [], "error"] : ["", "rspec", [context.to_s], "error"])
    end

    def close(_notification)
      return if Process.pid != OWNER || (@tests.empty? && @outside.empty?)

      require "json"
      path = File.join(FOLDER, "rspec-#{Process.pid}.json")
      File.write("#{path}.part", JSON.generate({ "tests" => @outside + numbered }))
      File.rename("#{path}.part", path)
    rescue SystemCallError, JSON::GeneratorError
      nil
    end

    private

    def add(example, status)
      groups = example.example_group.parent_groups.reverse.map { |group| group.description.to_s }
      name = example.description.to_s.sub(/\Aexample at .*:\d+.*\z/, "example")
      place = example.id.to_s.scan(/\d+/).map(&:to_i)
      @tests << [place, [example.metadata[:absolute_file_path].to_s, "", [*groups, name], status]]
    end

    # Examples of one description, told apart in the order of the file, for they run in any.
    def numbered
      seen = Hash.new(0)
      @tests.sort_by(&:first).map do |_place, (file, module_name, names, status)|
        turn = (seen[[file, names]] += 1)
        names = [*names[0...-1], "#{names.last} [#{turn}]"] if turn > 1
        [file, module_name, names, status]
      end
    end
  end

  # Hands what RSpec says of errors outside of examples on.
  module Outside
    def notify_non_example_exception(exception, context)
      LISTENER.outside(context)
      super
    end
  end

  LISTENER = Listener.new
end

# What a test starts tells nothing.
if KotefReport::FOLDER != "" && !ENV.key?("KOTEF_REPORTS_NESTED") && defined?(RSpec::Core::Reporter)
  RSpec::Core::Reporter.prepend(KotefReport::Outside)
  RSpec.configuration.reporter.register_listener(
    KotefReport::LISTENER, :start, :example_passed, :example_failed, :example_pending, :close
  )
end
