-- Registers the demo with OMD. It may be repeated: a code that is registered already is updated.

CALL omd.register_batch('b_flights', 'Adhoc', 'The flights from New York, one month a run');

-- The arguments are: Module, area, target, type of the target, platform of the target.
CALL omd.register_module('m_stg_flights', 'STG', 'stg.flights', 'STG', 'POSTGRES');
CALL omd.register_module('m_stg_airlines', 'STG', 'stg.airlines', 'STG', 'POSTGRES');
CALL omd.register_module('m_stg_airports', 'STG', 'stg.airports', 'STG', 'POSTGRES');
CALL omd.register_module('m_stg_planes', 'STG', 'stg.planes', 'STG', 'POSTGRES');
CALL omd.register_module('m_stg_weather', 'STG', 'stg.weather', 'STG', 'POSTGRES');
CALL omd.register_module('m_hstg_flights', 'HSTG', 'hstg.flights', 'HSTG', 'POSTGRES');
CALL omd.register_module('m_hstg_weather', 'HSTG', 'hstg.weather', 'HSTG', 'POSTGRES');
CALL omd.register_module('m_int_hub_carrier', 'INT', 'int.hub_carrier', 'HUB', 'POSTGRES');
CALL omd.register_module('m_int_hub_airport', 'INT', 'int.hub_airport', 'HUB', 'POSTGRES');
CALL omd.register_module('m_int_hub_aircraft', 'INT', 'int.hub_aircraft', 'HUB', 'POSTGRES');
CALL omd.register_module('m_int_link_flight', 'INT', 'int.link_flight', 'LINK', 'POSTGRES');
CALL omd.register_module(
    'm_int_sat_aircraft', 'INT', 'int.sat_aircraft', 'SAT', 'POSTGRES',
    p_business_key_columns => ARRAY['tailnum']
);
CALL omd.register_module('m_pres_carrier_month', 'PRES', 'pres.carrier_month', 'FACT', 'POSTGRES');

-- The Modules run in this order within the Batch.
CALL omd.add_module_to_batch('b_flights', 'm_stg_flights', 10);
CALL omd.add_module_to_batch('b_flights', 'm_stg_airlines', 20);
CALL omd.add_module_to_batch('b_flights', 'm_stg_airports', 30);
CALL omd.add_module_to_batch('b_flights', 'm_stg_planes', 40);
CALL omd.add_module_to_batch('b_flights', 'm_stg_weather', 50);
CALL omd.add_module_to_batch('b_flights', 'm_hstg_flights', 60);
CALL omd.add_module_to_batch('b_flights', 'm_hstg_weather', 70);
CALL omd.add_module_to_batch('b_flights', 'm_int_hub_carrier', 80);
CALL omd.add_module_to_batch('b_flights', 'm_int_hub_airport', 90);
CALL omd.add_module_to_batch('b_flights', 'm_int_hub_aircraft', 100);
CALL omd.add_module_to_batch('b_flights', 'm_int_link_flight', 110);
CALL omd.add_module_to_batch('b_flights', 'm_int_sat_aircraft', 120);
CALL omd.add_module_to_batch('b_flights', 'm_pres_carrier_month', 130);

-- A presentation table has no standard rollback; this one deletes the rows by their instance id.
CALL omd.register_rollback('m_pres_carrier_month');
