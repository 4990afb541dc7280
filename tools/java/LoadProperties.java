import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

import com.fasterxml.jackson.databind.ObjectMapper;

/**
 * Reads a JSON list of texts and prints what java.util.Properties makes of each: an object of keys
 * and values, or null where it refuses the text.
 */
public class LoadProperties {
    public static void main(String[] arguments) throws Exception {
        ObjectMapper json = new ObjectMapper();
        List<Object> loaded = new ArrayList<>();
        for (String text : json.readValue(System.in, String[].class)) {
            Properties properties = new Properties();
            try {
                properties.load(new StringReader(text));
                loaded.add(properties);
            } catch (IllegalArgumentException error) {
                loaded.add(null);
            }
        }
        System.out.println(json.writeValueAsString(loaded));
    }
}
